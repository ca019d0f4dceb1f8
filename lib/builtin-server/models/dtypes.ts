/**
 * Suffixes of graph files by the data type of the weights, in the names of transformers.js. The first one that a model has is the default:
 * an RL pipeline trains on logprobs, and reduced weights give those of another model.
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

/** Data type of a model's weights. */
export type Dtype = keyof typeof SUFFIXES
/** All data types, in the order of preference. */
export const dtypes = Object.keys(SUFFIXES) as readonly Dtype[]
