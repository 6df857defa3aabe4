import { writeFile } from 'node:fs/promises';
import { describeApi } from '../src/main/description/describe-api.ts';

await writeFile(new URL('../openapi.json', import.meta.url), await describeApi());
