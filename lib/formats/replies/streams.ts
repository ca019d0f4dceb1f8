/** Joins the chunks of streams to whole replies, which the reader of whole replies reads. */
import { isObject, type JsonObject, objectsIn } from '#lib/json/json-object.ts'
import type { Format } from '../format.ts'
import { catchRefusals, joinedPath, RecordError } from '../reading/record-error.ts'

/** Creates the format of a stream of chunks. `join` makes the reply of one stream, which `whole` reads. */
export function streamFormat<Chunk extends JsonObject>(
  whole: Format,
  sniff: (value: unknown) => value is Chunk,
  join: (chunks: readonly Chunk[]) => JsonObject,
  streams: (chunks: readonly Chunk[]) => Iterable<readonly Chunk[]> = streamsById,
): Format {
  return {
    name: `${whole.name}-stream`,
    label: `streamed ${whole.label}`,
    keeps: `The chunks of a stream, joined to its reply. ${whole.keeps}`,
    joins: true,
    sniff,
    read: catchRefusals((value, source) =>
      [...streams([value].flat().filter(sniff))].flatMap((stream) => {
        const result = whole.read(join(stream), source)
        if (result.ok) return result.trajectories
        throw new RecordError({ ...result.error, path: joinedPath('chunks', result.error.path) })
      }),
    ),
  }
}

/**
 * A file may have several streams one after the other, or mixed. SGLang gives each choice of a stream an id of its own, so chunks
 * without the first choice belong to the stream before them.
 */
function streamsById<Chunk extends JsonObject>(chunks: readonly Chunk[]): Iterable<readonly Chunk[]> {
  const byId = Map.groupBy(
    chunks,
    ({ id, request_id, meta_info }) => id ?? request_id ?? (isObject(meta_info) ? meta_info.id : 0),
  )
  const positions = new Map(chunks.map((chunk, position) => [chunk, position]))
  const streams: { readonly parts: Chunk[]; readonly choices: Set<number> }[] = []
  for (const parts of byId.values()) {
    const choices = choicesWithContent(parts)
    const last = streams.at(-1)
    const isFurther =
      choices.size > 0 && !choices.has(0) && !Array.from(choices).some((index) => last?.choices.has(index))
    if (last && isFurther) {
      // As arguments of one call, the parts of a long stream would exceed the stack.
      for (const part of parts) last.parts.push(part)
      last.parts.sort((a, b) => Number(positions.get(a)) - Number(positions.get(b)))
      for (const index of choices) last.choices.add(index)
    } else streams.push({ parts, choices })
  }
  return streams.map(({ parts }) => parts)
}

/** Returns a function that begins a stream with each chunk that is a beginning, for chunks that have no id. */
export const streamsFrom =
  <Chunk extends JsonObject>(isBeginning: (chunk: Chunk) => boolean) =>
  (chunks: readonly Chunk[]): Iterable<readonly Chunk[]> => {
    let count = 0
    return Map.groupBy(chunks, (chunk) => (isBeginning(chunk) ? ++count : count)).values()
  }

/** Returns the parts of each index, which they have in the field `key`, in the order of the indexes. A part without one has the index 0. */
export function partsByIndex<Part extends JsonObject>(
  parts: readonly Part[],
  key: string,
): readonly (readonly Part[])[] {
  const byIndex = [...Map.groupBy(parts, ({ [key]: index }) => (typeof index === 'number' ? index : 0))]
  return byIndex.sort(([a], [b]) => a - b).map(([, own]) => own)
}

/** Returns the indexes of the choices of which the chunks have tokens or texts. */
const choicesWithContent = (chunks: readonly JsonObject[]): Set<number> =>
  new Set(
    chunks
      .flatMap(({ choices }) => objectsIn(choices))
      .flatMap(({ index, text, delta, token_ids: ids }) => {
        const contents = [text, ids, ...(isObject(delta) ? Object.values(delta) : [])]
        return typeof index === 'number' && contents.some(isFilled) ? [index] : []
      }),
  )

const isFilled = (value: unknown): boolean => (typeof value === 'string' || Array.isArray(value)) && value.length > 0

/** Returns the last value of a field that is present. */
export const lastOf = (objects: readonly JsonObject[], key: string): unknown =>
  objects.findLast((object) => object[key] !== undefined && object[key] !== null)?.[key]

/** Returns the lists of a field, one after the other; undefined if no object has one. */
export function joinedLists(objects: readonly JsonObject[], key: string): readonly unknown[] | undefined {
  const lists = objects.map((object) => object[key]).filter(isList)
  return lists.length > 0 ? lists.flat() : undefined
}

/** Returns whether a value is a list. */
export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)

/** Returns the texts of a field, one after the other; undefined if no object has one. */
export function joinedTexts(objects: readonly JsonObject[], key: string): string | undefined {
  const texts = objects.flatMap((object) => (typeof object[key] === 'string' ? [object[key]] : []))
  return texts.length > 0 ? texts.join('') : undefined
}
