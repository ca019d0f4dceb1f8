/** Names of the inference engines that Rollscope knows, as their projects write them. */
export const ENGINE_NAMES = {
  sglang: 'SGLang',
  'llama.cpp': 'llama.cpp',
  vllm: 'vLLM',
  openai: 'OpenAI-compatible',
} as const
/** Key of an inference engine. */
export type EngineName = keyof typeof ENGINE_NAMES

/** Returns the name of an engine as the subject of a sentence. */
export const engineSubject = (engine: EngineName): string =>
  engine === 'openai' ? 'This OpenAI-compatible server' : ENGINE_NAMES[engine]
