export declare const distFolder: string;
export declare function stampOfSources(folder?: string): string;
export declare function isBundleCurrent(): boolean;
export declare function bundledProgram(): string | null;
