import type { ResultOf } from '@rrs/client';

export type Package = ResultOf<'getEvidencePackage'>;
