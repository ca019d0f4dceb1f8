/** One forward pass of an ONNX causal language model: what its graph asks for and gives, with its keys and values. */
import { type InferenceSession, Tensor } from 'onnxruntime-node'

export interface OnnxModel {
  readonly contextLength: number
  /** Keys and values of no position. */
  readonly empty: KeyValues
  /** `keep`: the logits of all the positions given, or of the last one. */
  forward(ids: readonly number[], past: KeyValues, keep: 'all' | 'last'): Promise<Pass>
}

/** Of the first `length` positions; one tensor [1, heads, length, head size] for every cache input of the graph. */
export interface KeyValues {
  readonly length: number
  readonly tensors: readonly Tensor[]
}

export interface Pass {
  /** One row per position kept. */
  readonly logits: readonly Float32Array[]
  readonly keyValues: KeyValues
}

/** What config.json adds to what the graph says of itself. */
export interface GraphConfig {
  readonly contextLength: number
  readonly heads: number | undefined
  readonly headSize: number | undefined
}

/** Throws where the graph is none that can be served: by name of what is missing or unknown. */
export function onnxModel(session: InferenceSession, config: GraphConfig): OnnxModel {
  const caches = cacheInputs(session)
  const keepInput = session.inputNames.find((name) => name === 'num_logits_to_keep' || name === 'logits_to_keep')
  refuseUnknownInputs(session, new Set(['input_ids', 'attention_mask', 'position_ids', keepInput, ...caches.keys()]))
  const takes = new Set(session.inputNames)
  // Masks of every length are views of one array: nothing is padded here.
  const ones = new BigInt64Array(config.contextLength).fill(1n)
  const empty: KeyValues = {
    length: 0,
    tensors: [...caches.values()].map(({ shape }) => float32(new Float32Array(0), cacheShape(shape, config))),
  }
  return {
    contextLength: config.contextLength,
    empty,
    async forward(ids, past, keep) {
      const count = ids.length
      const total = past.length + count
      const feeds: Record<string, Tensor> = { input_ids: int64(ids, [1, count]) }
      if (takes.has('attention_mask')) feeds.attention_mask = new Tensor('int64', ones.subarray(0, total), [1, total])
      if (takes.has('position_ids'))
        feeds.position_ids = int64(
          ids.map((_, index) => past.length + index),
          [1, count],
        )
      // To keep 0 is to keep all.
      if (keepInput !== undefined) feeds[keepInput] = int64([keep === 'all' ? 0 : 1], [])
      let index = 0
      for (const name of caches.keys()) feeds[name] = past.tensors[index++] as Tensor
      const outputs = await session.run(feeds)
      const tensors = [...caches.values()].map(({ output }) => outputs[output] as Tensor)
      return {
        logits: rowsOf(outputs.logits as Tensor, keep === 'all' ? count : 1),
        keyValues: { length: total, tensors },
      }
    },
  }
}

/** The first `length` positions: a copy, unless it is all of them. */
export function firstPositions(keyValues: KeyValues, length: number): KeyValues {
  if (length === keyValues.length) return keyValues
  const tensors = keyValues.tensors.map((tensor) => {
    const [, heads, , size] = tensor.dims as [number, number, number, number]
    const all = tensor.data as Float32Array
    const some = new Float32Array(heads * length * size)
    for (let head = 0; head < heads; head++) {
      const from = head * keyValues.length * size
      some.set(all.subarray(from, from + length * size), head * length * size)
    }
    return float32(some, [1, heads, length, size])
  })
  return { length, tensors }
}

export const bytesIn = ({ tensors }: KeyValues): number =>
  tensors.reduce((sum, { data }) => sum + (data as Float32Array).byteLength, 0)

interface CacheInput {
  readonly output: string
  readonly shape: readonly (number | string)[]
}

/**
 * past_key_values.N.key and .value, whose new state comes out as present.N.key and .value. Only float32: 16 bits move
 * logprobs by up to 0.07, and onnxruntime-node 1.30 takes no Float16Array back.
 */
function cacheInputs({ inputMetadata, outputNames }: InferenceSession): ReadonlyMap<string, CacheInput> {
  const caches = new Map<string, CacheInput>()
  for (const input of inputMetadata) {
    const match = /^past_key_values\.(\d+\.(?:key|value))$/.exec(input.name)
    if (!match || !input.isTensor) continue
    const output = `present.${match[1]}`
    if (!outputNames.includes(output)) throw new Error(`the ONNX graph takes ${input.name} but does not give ${output}`)
    if (input.type !== 'float32')
      throw new Error(`the ONNX graph keeps its cache as ${input.type}: take an export that keeps it as float32`)
    caches.set(input.name, { output, shape: input.shape })
  }
  if (caches.size === 0) throw new Error('the ONNX graph has no past_key_values inputs: export it with its cache')
  if (!outputNames.includes('logits')) throw new Error('the ONNX graph has no output named logits')
  return caches
}

function refuseUnknownInputs({ inputNames }: InferenceSession, known: ReadonlySet<string | undefined>): void {
  const unknown = inputNames.filter((name) => !known.has(name))
  if (unknown.length > 0)
    throw new Error(`the ONNX graph asks for ${unknown.join(', ')}, which this server cannot give`)
}

/** Exports may leave heads and head size symbolic: config.json knows them. */
function cacheShape(shape: readonly (number | string)[], { heads, headSize }: GraphConfig): number[] {
  const number = (axis: number, fallback: number | undefined): number => {
    const size = shape[axis]
    const known = typeof size === 'number' ? size : fallback
    if (known === undefined) throw new Error('neither the ONNX graph nor config.json says how many heads of what size')
    return known
  }
  return [1, number(1, heads), 0, number(3, headSize)]
}

const float32 = (values: Float32Array, shape: readonly number[]): Tensor => new Tensor('float32', values, shape)

const int64 = (values: readonly number[], shape: readonly number[]): Tensor =>
  new Tensor('int64', BigInt64Array.from(values, BigInt), shape)

/** The last rows: a graph that cannot be told how many to keep gives all. */
function rowsOf({ data, dims }: Tensor, count: number): Float32Array[] {
  const size = dims.at(-1) as number
  const all = data as Float32Array
  const from = all.length - count * size
  return Array.from({ length: count }, (_, row) => all.subarray(from + row * size, from + (row + 1) * size))
}
