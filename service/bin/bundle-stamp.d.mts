export declare const distFolder: string;
export declare function stampOfSources(): string;
export declare function isBundleCurrent(): boolean;
export declare function bundledProgram(): string | null;
