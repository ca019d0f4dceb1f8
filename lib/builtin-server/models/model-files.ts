/**
 * Finds the files of a model: its config.json and its graph, in one of the number formats of exports for transformers.js. They come from a
 * folder, or from the Hub into the cache that Python's huggingface_hub also uses.
 */
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Progress } from '#lib/tokenizer/hub/repository.ts'
import {
  cachedSnapshot,
  type HubPlace,
  hubError,
  hubRepository,
  isRepositoryName,
} from '#lib/tokenizer/hub/repository.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { sizeText } from '#lib/util/text/size-text.ts'
import { type Dtype, dtypes, SUFFIXES } from './dtypes.ts'

/** The chosen files of a model. */
export interface ModelFiles {
  /** Absolute paths. */
  readonly config: string
  readonly graph: string
  readonly dtype: Dtype
  /** Other data types in which the model is available. */
  readonly others: readonly Dtype[]
}

/** Where a model is, and which form is wanted. */
export interface ModelPlace {
  /** A folder, or the Hub name of an ONNX causal language model. */
  readonly model: string
  /** Data type of the weights; undefined: the first one that the model has. */
  readonly dtype: Dtype | undefined
  readonly hub: HubPlace
  /** Returns the bytes of memory that the model may use. */
  readonly freeMemory: () => number
}

/** Finds or downloads the files. Throws an Error that says what is missing and what is available. */
export async function modelFiles(
  place: ModelPlace,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<ModelFiles> {
  const { model, hub } = place
  if (await isFolder(model)) return inFolder(model, choose(await listing(model), place))
  if (path.isAbsolute(model) || model.startsWith('.')) throw new Error(`there is no folder ${model}`)
  if (!isRepositoryName(model)) throw new Error(`${JSON.stringify(model)} is neither a folder nor a Hub name`)
  const cached = await cachedSnapshot(model, hub)
  const cachedSizes = cached === undefined ? new Map<string, number>() : await listing(cached)
  // Without a requested format, the one that was chosen before is used again without a request.
  if (cached !== undefined && isWhole(cachedSizes, place.dtype)) return inFolder(cached, choose(cachedSizes, place))
  try {
    const repository = await hubRepository(model, hub, PATHS, signal)
    const chosen = choose(new Map(repository.files.map((file) => [file.path, file.size])), place)
    // The graph comes last: if it is there, the other files are too.
    const [graph, ...weights] = chosen.files
    const inOrder = [CONFIG, ...weights, graph].flatMap((wanted) =>
      repository.files.filter((file) => file.path === wanted),
    )
    await repository.fetch(inOrder, onProgress, signal)
    return inFolder(repository.folder, chosen)
  } catch (error) {
    throw error instanceof ModelError ? error : new Error(hubError(model, error, hub).message, { cause: error })
  }
}

/** An error of the model itself rather than of the connection to it. */
class ModelError extends Error {
  override readonly name = 'ModelError'
}

const CONFIG = 'config.json'
const graphOf = (dtype: Dtype): string => `onnx/model${SUFFIXES[dtype]}.onnx`
/** Suffixes of weight files beside a graph: weights above 2 GB are divided into as many files as needed. */
const WEIGHTS = ['_data', ...Array.from({ length: 15 }, (_, index) => `_data_${index + 1}`)]
const filesOf = (dtype: Dtype): string[] => [graphOf(dtype), ...WEIGHTS.map((suffix) => graphOf(dtype) + suffix)]
const PATHS = [CONFIG, ...dtypes.flatMap(filesOf)]

/** Bytes by path in the model. */
type Listing = ReadonlyMap<string, number>

interface Chosen {
  readonly dtype: Dtype
  readonly files: readonly string[]
  readonly others: readonly Dtype[]
}

const isWhole = (cachedListing: Listing, dtype: Dtype | undefined): boolean =>
  cachedListing.has(CONFIG) && (dtype === undefined ? dtypes : [dtype]).some((one) => cachedListing.has(graphOf(one)))

function choose(listed: Listing, { model, dtype, freeMemory }: ModelPlace): Chosen {
  const there = dtypes.filter((one) => listed.has(graphOf(one)))
  if (!listed.has(CONFIG)) throw new ModelError(`${model} has no ${CONFIG}`)
  if (there.length === 0)
    throw new ModelError(
      `${model} has no onnx/model.onnx, nor one of reduced numbers (model_quantized.onnx, model_q4.onnx, …): it is no export for transformers.js`,
    )
  const wanted = dtype ?? elementAt(there, 0)
  if (!there.includes(wanted))
    throw new ModelError(`${model} has no ${wanted} (${graphOf(wanted)}): it has ${there.join(', ')}`)
  const files = filesOf(wanted).filter((file) => listed.has(file))
  const bytesIn = (one: Dtype): number => filesOf(one).reduce((sum, file) => sum + (listed.get(file) ?? 0), 0)
  const bytes = bytesIn(wanted)
  const free = freeMemory()
  if (bytes * MEMORY_PER_BYTE > free) {
    const smaller = there.filter((one) => bytesIn(one) * MEMORY_PER_BYTE <= free)
    throw new ModelError(
      `${model} in ${wanted} does not fit: its files have ${sizeText(bytes)} and need about ${sizeText(bytes * MEMORY_PER_BYTE)} of memory, ${sizeText(free)} are free. ${
        smaller.length > 0
          ? `Set ROLLSCOPE_MODEL_DTYPE to ${smaller.join(' or ')}, which it has too.`
          : 'It has no smaller form that fits.'
      }`,
    )
  }
  return { dtype: wanted, files, others: there.filter((one) => one !== wanted) }
}

/** Memory per byte of the files, as measured: 548 MB at most for 403 MB of weights, inside the graph's file or beside it. */
const MEMORY_PER_BYTE = 1.4

const inFolder = (folder: string, { dtype, others }: Chosen): ModelFiles => ({
  config: path.join(folder, CONFIG),
  graph: path.join(folder, graphOf(dtype)),
  dtype,
  others,
})

async function listing(folder: string): Promise<Listing> {
  const names = await readdir(path.join(folder, 'onnx')).catch(() => [])
  const known = new Set(PATHS)
  const files = [CONFIG, ...names.map((name) => `onnx/${name}`)].filter((file) => known.has(file))
  const sizes = await Promise.all(
    files.map(async (file): Promise<[string, number][]> => {
      const found = await stat(path.join(folder, file)).catch(() => undefined)
      return found?.isFile() ? [[file, found.size]] : []
    }),
  )
  return new Map(sizes.flat())
}

async function isFolder(name: string): Promise<boolean> {
  const found = await stat(name).catch(() => undefined)
  return found?.isDirectory() ?? false
}
