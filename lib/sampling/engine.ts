/** The inference engines that Rollscope knows. This file is separate because every page loads it. */
export const ENGINES = ['sglang', 'llama.cpp'] as const
/** Name of an inference engine. */
export type Engine = (typeof ENGINES)[number]

/** Names of the engines as their projects write them. */
export const ENGINE_NAMES: Readonly<Record<Engine, string>> = { sglang: 'SGLang', 'llama.cpp': 'llama.cpp' }
