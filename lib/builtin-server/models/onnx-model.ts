/** Runs forward passes of an ONNX causal language model with the inputs that its graph requires, and with its keys and values. */
import { type InferenceSession, Tensor } from 'onnxruntime-node'
import { elementAt } from '#lib/util/element-at.ts'
import type { CacheTensor, KeyValues } from './key-values.ts'

/** A causal language model. */
export interface OnnxModel {
  readonly contextLength: number
  /** Keys and values of one row without positions. */
  readonly empty: KeyValues
  /** Whether the graph has an input for padding. padding.ts finds out whether the graph respects it. */
  readonly takesPadding: boolean
  /**
   * Computes the next positions of every row of `past`, the same number for each. `keep` selects the logits of all these positions, or of
   * the last one.
   */
  forward(rows: readonly RowInput[], past: KeyValues, keep: 'all' | 'last'): Promise<Pass>
}

interface RowInput {
  readonly ids: readonly number[]
  /** Number of positions of the past that are padding. */
  readonly padding: number
}

interface Pass {
  /** For each row, the logits of each position that is kept. */
  readonly logits: readonly (readonly Float32Array[])[]
  readonly keyValues: KeyValues
}

/** Facts of config.json that the graph may lack. */
export interface GraphConfig {
  readonly contextLength: number
  readonly heads: number | undefined
  readonly headSize: number | undefined
}

/** Returns the model of a session. Throws an Error with the missing or unknown name if the graph cannot be served. */
export function onnxModel(session: InferenceSession, config: GraphConfig): OnnxModel {
  const caches = cacheInputs(session)
  const keepInput = session.inputNames.find((name) => name === 'num_logits_to_keep' || name === 'logits_to_keep')
  refuseUnknownInputs(session, new Set(['input_ids', 'attention_mask', 'position_ids', keepInput, ...caches.keys()]))
  const takes = new Set(session.inputNames)
  // For the graph, 0 means all positions.
  const keeps = { all: int64(0), last: int64(1) }
  const mask = createMask()
  const empty: KeyValues = {
    rows: 1,
    length: 0,
    tensors: [...caches.values()].map(
      ({ shape, isHalf }): CacheTensor => ({
        dims: cacheShape(shape, config),
        data: isHalf ? new Uint16Array(0) : new Float32Array(0),
      }),
    ),
  }
  return {
    contextLength: config.contextLength,
    empty,
    takesPadding: takes.has('attention_mask') && takes.has('position_ids'),
    async forward(rows, past, keep) {
      const count = rows[0]?.ids.length ?? 0
      const shape = [rows.length, count]
      const total = past.length + count
      const feeds: Record<string, Tensor> = { input_ids: new Tensor('int64', inputIds(rows, count), shape) }
      if (takes.has('attention_mask')) feeds.attention_mask = mask(rows, total)
      if (takes.has('position_ids'))
        feeds.position_ids = new Tensor('int64', positionIds(rows, count, past.length), shape)
      if (keepInput !== undefined) feeds[keepInput] = keeps[keep]
      let index = 0
      for (const name of caches.keys()) feeds[name] = tensorOf(elementAt(past.tensors, index++))
      const outputs = await session.run(feeds)
      const tensors = [...caches.values()].map(({ output }) => cacheTensor(outputs[output] as Tensor))
      return {
        logits: rowsOf(outputs.logits as Tensor, rows.length, keep === 'all' ? count : 1),
        keyValues: { rows: rows.length, length: total, tensors },
      }
    },
  }
}

interface CacheInput {
  readonly output: string
  readonly shape: readonly (number | string)[]
  /** Whether the floats have 16 bits. */
  readonly isHalf: boolean
}

/**
 * Returns the tensor of a cache. onnxruntime-node 1.30 returns floats of 16 bits as a Float16Array but accepts only a Uint16Array, which
 * its Tensor class converts to a Float16Array; so they are passed without that class.
 */
function tensorOf({ dims, data }: CacheTensor): Tensor {
  if (data instanceof Float32Array) return new Tensor('float32', data, dims)
  return { type: 'float16', location: 'cpu', dims, data } as unknown as Tensor
}

function cacheTensor({ dims, data }: Tensor): CacheTensor {
  if (data instanceof Float32Array) return { dims, data }
  const { buffer, byteOffset, length } = data as Uint16Array
  return { dims, data: new Uint16Array(buffer, byteOffset, length) }
}

/** Returns the cache inputs past_key_values.N.key and .value, whose new state is returned as present.N.key and .value. */
function cacheInputs({ inputMetadata, outputNames }: InferenceSession): ReadonlyMap<string, CacheInput> {
  const caches = new Map<string, CacheInput>()
  for (const input of inputMetadata) {
    const match = /^past_key_values\.(\d+\.(?:key|value))$/.exec(input.name)
    if (!match || !input.isTensor) continue
    const output = `present.${match[1]}`
    if (!outputNames.includes(output)) throw new Error(`the ONNX graph takes ${input.name} but does not give ${output}`)
    if (input.type !== 'float32' && input.type !== 'float16')
      throw new Error(
        `the ONNX graph keeps its cache as ${input.type}: take an export that keeps it as float32 or float16`,
      )
    caches.set(input.name, { output, shape: input.shape, isHalf: input.type === 'float16' })
  }
  if (caches.size === 0) throw new Error('the ONNX graph has no past_key_values inputs: export it with its cache')
  if (!outputNames.includes('logits')) throw new Error('the ONNX graph has no output named logits')
  return caches
}

function refuseUnknownInputs({ inputNames }: InferenceSession, known: ReadonlySet<string | undefined>): void {
  const unknown = inputNames.filter((name) => !known.has(name))
  if (unknown.length > 0)
    throw new Error(`the ONNX graph needs the inputs ${unknown.join(', ')}, which this server does not provide`)
}

/** Returns the shape of a cache. Exports may leave heads and head size symbolic; config.json has them. */
function cacheShape(shape: readonly (number | string)[], { heads, headSize }: GraphConfig): number[] {
  const number = (axis: number, fallback: number | undefined): number => {
    const size = shape[axis]
    const known = typeof size === 'number' ? size : fallback
    if (known === undefined) throw new Error('neither the ONNX graph nor config.json says how many heads of what size')
    return known
  }
  return [1, number(1, heads), 0, number(3, headSize)]
}

const int64 = (value: number): Tensor => new Tensor('int64', BigInt64Array.of(BigInt(value)), [])

function inputIds(rows: readonly RowInput[], count: number): BigInt64Array {
  const all = new BigInt64Array(rows.length * count)
  rows.forEach(({ ids }, row) => {
    ids.forEach((id, index) => {
      all[row * count + index] = BigInt(id)
    })
  })
  return all
}

/** Returns the positions of the next ids. Padding has no position: each row counts from its own first token. */
function positionIds(rows: readonly RowInput[], count: number, past: number): BigInt64Array {
  const all = new BigInt64Array(rows.length * count)
  rows.forEach(({ padding }, row) => {
    for (let index = 0; index < count; index++) all[row * count + index] = BigInt(past - padding + index)
  })
  return all
}

/**
 * Returns a function that returns a mask [rows, length] with 0 for padding. The result is valid until the next call, because all calls
 * share one array.
 */
function createMask(): (rows: readonly RowInput[], length: number) => Tensor {
  let ones = new BigInt64Array(0)
  let padded: BigInt64Array = ones
  return (rows, length) => {
    const size = rows.length * length
    if (ones.length < size) {
      ones = new BigInt64Array(2 * size).fill(1n)
      padded = new BigInt64Array(2 * size)
    }
    const hasPadding = rows.some(({ padding }) => padding > 0)
    if (hasPadding) {
      padded.fill(1n, 0, size)
      rows.forEach(({ padding }, row) => {
        padded.fill(0n, row * length, row * length + padding)
      })
    }
    return new Tensor('int64', (hasPadding ? padded : ones).subarray(0, size), [rows.length, length])
  }
}

/** Returns the last `count` positions of each row; a graph without an input for their number returns all. */
function rowsOf({ data, dims }: Tensor, rows: number, count: number): Float32Array[][] {
  const size = dims.at(-1) as number
  // Graphs of 16 bits may return logits of 16 bits, as a Float16Array.
  const all = data instanceof Float32Array ? data : Float32Array.from(data as Iterable<number>)
  const length = all.length / rows
  return Array.from({ length: rows }, (_, row) => {
    const from = (row + 1) * length - count * size
    return Array.from({ length: count }, (_, index) => all.subarray(from + index * size, from + (index + 1) * size))
  })
}
