/**
 * How weights are kept, by transformers.js' names; the first that a model has is taken where none is named: what an RL
 * pipeline trains on are logprobs, and those of reduced weights are another model's.
 */
export const SUFFIXES = {
  fp32: '',
  q8: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  q4: '_q4',
  bnb4: '_bnb4',
  q2: '_q2',
  q1: '_q1',
  fp16: '_fp16',
  q4f16: '_q4f16',
  q2f16: '_q2f16',
  q1f16: '_q1f16',
} as const

export type Dtype = keyof typeof SUFFIXES
export const dtypes = Object.keys(SUFFIXES) as readonly Dtype[]
