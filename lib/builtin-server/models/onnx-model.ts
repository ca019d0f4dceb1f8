/** One forward pass of an ONNX causal language model: what its graph asks for and gives, with its keys and values. */
import { type InferenceSession, Tensor } from 'onnxruntime-node'
import { elementAt } from '#lib/util/element-at.ts'
import type { CacheTensor, KeyValues } from './key-values.ts'

export interface OnnxModel {
  readonly contextLength: number
  /** Keys and values of no position, of one row. */
  readonly empty: KeyValues
  /** The graph can be told which positions of a row are padding. Whether it heeds that, padding.ts finds out. */
  readonly takesPadding: boolean
  /**
   * The next positions of every row of `past`, the same number for each. `keep`: the logits of all the positions given,
   * or of the last one.
   */
  forward(rows: readonly RowInput[], past: KeyValues, keep: 'all' | 'last'): Promise<Pass>
}

interface RowInput {
  readonly ids: readonly number[]
  /** Positions of the past that are padding. */
  readonly padding: number
}

interface Pass {
  /** For each row, one list of logits per position kept. */
  readonly logits: readonly (readonly Float32Array[])[]
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
  // To keep 0 is to keep all.
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
  /** Floats of 16 bits. */
  readonly isHalf: boolean
}

/**
 * onnxruntime-node 1.30 gives floats of 16 bits as a Float16Array and takes them only as a Uint16Array, which its Tensor
 * turns into a Float16Array: so they go in without one.
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

/** past_key_values.N.key and .value, whose new state comes out as present.N.key and .value. */
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

/** Padding has no position: each row counts from its own first token. */
function positionIds(rows: readonly RowInput[], count: number, past: number): BigInt64Array {
  const all = new BigInt64Array(rows.length * count)
  rows.forEach(({ padding }, row) => {
    for (let index = 0; index < count; index++) all[row * count + index] = BigInt(past - padding + index)
  })
  return all
}

/** [rows, length], 0 where there is padding; valid until the next one is asked for, since all share one array. */
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

/** The last `count` positions of each row: a graph that cannot be told how many to keep gives all. */
function rowsOf({ data, dims }: Tensor, rows: number, count: number): Float32Array[][] {
  const size = dims.at(-1) as number
  // Graphs of 16 bits may give logits of 16 bits, as a Float16Array.
  const all = data instanceof Float32Array ? data : Float32Array.from(data as Iterable<number>)
  const length = all.length / rows
  return Array.from({ length: rows }, (_, row) => {
    const from = (row + 1) * length - count * size
    return Array.from({ length: count }, (_, index) => all.subarray(from + index * size, from + (index + 1) * size))
  })
}
