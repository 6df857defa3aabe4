export { sampleContext, sampleEvidence } from './reports/evidence.ts';
export { hostileTexts } from './reports/hostile.ts';
export { sampleArtifact, sampleFinding } from './reports/parts.ts';
export { evidenceSamples, manyFindings } from './reports/samples.ts';
export { pipelineRun } from './sample-facts.ts';
