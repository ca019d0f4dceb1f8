/** Names of the inference engines that Rollscope knows, as their projects write them. */
export const ENGINE_NAMES = { sglang: 'SGLang', 'llama.cpp': 'llama.cpp' } as const
/** Key of an inference engine. */
export type Engine = keyof typeof ENGINE_NAMES
