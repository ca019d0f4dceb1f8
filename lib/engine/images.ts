/**
 * Images of a request. The ids have one or more placeholders for each image; a server reads as many as the image has
 * positions. What it reports to have read is compared with what was sent, and its scores are assigned to the sent ids.
 */
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { toEngineInput } from '#lib/trajectory/images/engine-input.ts'
import { type PlaceholderIds, placeholderRuns } from '#lib/trajectory/images/placeholders.ts'
import type { ChatMessage } from '#lib/trajectory/messages/chat-call.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { EngineColumns, LogprobLists, TopColumns } from './columns.ts'
import { EngineError } from './http/errors.ts'

/** The images of a request, in the order of their placeholders. */
export interface RequestImages {
  /** Data URLs. */
  readonly urls: readonly string[]
  /** The tokens of each image in the input ids. */
  readonly spans: readonly Span[]
  readonly placeholders: PlaceholderIds
  /** Number of tokens that the server reads for each of the first images, as an earlier reply reported it. */
  readonly known?: readonly number[] | undefined
  /** The conversation, for servers that take images in messages only. Undefined: the server takes them beside ids. */
  readonly conversation?: ImageConversation | undefined
}

/** A conversation with its images, whose render has the ids of the request. */
export interface ImageConversation {
  /** Messages whose parts are texts and `image_url`. */
  readonly messages: readonly ChatMessage[]
  readonly tools: readonly ToolSpec[]
  readonly templateOptions: Readonly<Record<string, unknown>>
}

interface WithImages {
  readonly inputIds: readonly number[]
  readonly logprobStartLen?: number | undefined
  readonly images: RequestImages
}

/** Throws EngineError REQUEST_REFUSED if the ids do not have one placeholder, or one run of them, for each image. */
export function requireImagePlaceholders({ inputIds, images }: WithImages): void {
  const { urls, spans } = images
  const refuse = (why: string): never => {
    throw new EngineError('REQUEST_REFUSED', why)
  }
  if (spans.length !== urls.length)
    refuse(
      `the prompt has ${countWithNoun(spans.length, 'image placeholder')}, and ${countWithNoun(urls.length, 'image')} would be sent`,
    )
  let from = 0
  for (const { start, end } of spans) {
    if (start < from || end <= start || end > inputIds.length)
      refuse(`the tokens ${start} to ${end} of an image are not among the ${inputIds.length} of the prompt, in order`)
    from = end
  }
}

/** What a server read in place of the sent ids. */
export interface ReadImages {
  /** Number of tokens that it read for each image; undefined if that is unknown. */
  readonly tokens: readonly number[] | undefined
  /** Returns the scores of the prompt by the sent ids; undefined if they cannot be assigned. */
  columnsOfSent(columns: EngineColumns): EngineColumns | undefined
  /** Whether a position of the sent ids, counted from the end, is one of an image. */
  isImage(fromEnd: number): boolean
}

/**
 * Compares the ids that the server reports to have read with those that were sent: only placeholders may be repeated, and as often
 * as the report says. Throws EngineError INCONSISTENT.
 */
export function readImages(
  request: WithImages,
  {
    promptIds,
    promptTokens,
  }: { readonly promptIds?: readonly number[] | null | undefined; readonly promptTokens?: number | null | undefined },
): ReadImages {
  const sent = toEngineInput(request).inputIds.length
  if (typeof promptTokens === 'number' && (promptTokens < sent || (promptIds && promptTokens !== promptIds.length)))
    throw new EngineError(
      'INCONSISTENT',
      promptTokens < sent
        ? `the server read ${promptTokens} prompt tokens, ${sent} were sent`
        : `the server counted ${promptTokens} prompt tokens and returned ${promptIds?.length}`,
    )
  const groups = promptIds ? alignedGroups(request, promptIds) : countedGroups(request, promptTokens, sent)
  const tokens = groups?.every(({ images }) => images === 1) ? groups.map(({ read }) => read) : undefined
  const { spans } = request.images
  return {
    tokens,
    columnsOfSent: (columns) => (groups && promptIds ? columnsOf(columns, request, groups, promptIds) : undefined),
    isImage: (fromEnd) => {
      const index = request.inputIds.length - fromEnd
      return spans.some(({ start, end }) => start <= index && index < end)
    },
  }
}

/** Adjacent images without a token between them: their tokens cannot be distinguished. */
interface ImageGroup extends Span {
  readonly images: number
  /** Number of tokens that the server read for them. */
  readonly read: number
}

/** The number of tokens shows the length of an image only if there is one. */
function countedGroups(
  { images: { spans } }: WithImages,
  promptTokens: number | null | undefined,
  sent: number,
): readonly ImageGroup[] | undefined {
  const [only, ...others] = spans
  if (!only || others.length > 0 || typeof promptTokens !== 'number') return undefined
  return [{ ...only, images: 1, read: promptTokens - sent + 1 }]
}

function alignedGroups(
  { inputIds, images: { spans, placeholders } }: WithImages,
  promptIds: readonly number[],
): readonly ImageGroup[] {
  const groups = groupsOf(spans)
  const runs = placeholderRuns(promptIds, { ...placeholders, markers: NONE })
  if (runs.length !== groups.length)
    throw new EngineError(
      'INCONSISTENT',
      `the server read ${countWithNoun(runs.length, 'run')} of image placeholders, expected ${groups.length}, for ${countWithNoun(spans.length, 'image')}`,
    )
  const aligned = groups.map((group, index) => {
    const { start, end } = elementAt(runs, index)
    if (end - start < group.images)
      throw new EngineError(
        'INCONSISTENT',
        `the server read ${countWithNoun(end - start, 'token')} for ${countWithNoun(group.images, 'image')}`,
      )
    return { ...group, read: end - start }
  })
  checkTextBetween(inputIds, groups, promptIds, runs, placeholders)
  return aligned
}

const NONE: ReadonlySet<number> = new Set()

function groupsOf(spans: readonly Span[]): readonly (Span & { readonly images: number })[] {
  const groups: { start: number; end: number; images: number }[] = []
  for (const { start, end } of spans) {
    const last = groups.at(-1)
    if (last?.end === start) Object.assign(last, { end, images: last.images + 1 })
    else groups.push({ start, end, images: 1 })
  }
  return groups
}

/**
 * Throws EngineError unless the ids between images are the same. A processor that replaces a marker writes further tokens around
 * the repeated ones and may merge line ends with them, so next to markers a few tokens may differ.
 */
function checkTextBetween(
  sent: readonly number[],
  groups: readonly Span[],
  read: readonly number[],
  runs: readonly Span[],
  { markers }: PlaceholderIds,
): void {
  for (let index = 0; index <= groups.length; index++) {
    const edges = [groups[index - 1], groups[index]].map((group) =>
      group && markers.has(sent[group.start] ?? -1) ? FRAME : 0,
    )
    const a = sent.slice(groups[index - 1]?.end ?? 0, groups[index]?.start)
    const b = read.slice(runs[index - 1]?.end ?? 0, runs[index]?.start)
    const odd = firstDifference(a, b, edges[0] ?? 0, edges[1] ?? 0)
    if (odd === undefined) continue
    const position = (groups[index - 1]?.end ?? 0) + odd
    throw new EngineError(
      'INCONSISTENT',
      `the server read other ids than were sent: ${b[odd] ?? 'nothing'} in place of ${a[odd] ?? 'nothing'} at position ${position}. It encodes prompts with images again, so the run would not be token-in/token-out`,
    )
  }
}

/** Tokens that may differ on each side of an image that has a marker. */
const FRAME = 4

/** Returns the index of the first difference; undefined if all but a few ids at the edges are the same. */
function firstDifference(a: readonly number[], b: readonly number[], left: number, right: number): number | undefined {
  if (left + right === 0) {
    const odd = Array.from({ length: Math.max(a.length, b.length) }).findIndex((_, index) => a[index] !== b[index])
    return odd < 0 ? undefined : odd
  }
  const inner = a.slice(left > 0 ? 1 : 0, right > 0 ? Math.max(1, a.length - 1) : undefined)
  for (let shift = 0; shift <= left + 1; shift++)
    if (b.length - inner.length - shift <= right + 1 && inner.every((id, index) => b[shift + index] === id))
      return undefined
  const odd = a.findIndex((id, index) => b[index] !== id)
  return Math.max(0, odd)
}

function columnsOf(
  { input, inputTop, ...others }: EngineColumns,
  { inputIds, images: { placeholders } }: WithImages,
  groups: readonly ImageGroup[],
  promptIds: readonly number[],
): EngineColumns | undefined {
  // Next to a marker, the sent ids are not those that were scored.
  if (groups.some(({ start }) => placeholders.markers.has(inputIds[start] ?? -1))) return undefined
  const rows = rowsOfSent(inputIds.length, groups, promptIds.length, input?.ids.length ?? 0)
  if (!input) return others
  return {
    ...others,
    input: listOf(input, rows, 1, (index) => elementAt(inputIds, inputIds.length - rows.length + index)),
    ...(inputTop && {
      inputTop: { k: inputTop.k, ...listOf(inputTop, rows, inputTop.k, () => -1) } satisfies TopColumns,
    }),
  }
}

/** Returns the row of each of the last sent ids, undefined for positions of images. Only ids before which all have rows are left out. */
function rowsOfSent(
  length: number,
  groups: readonly ImageGroup[],
  readLength: number,
  rowCount: number,
): readonly (number | undefined)[] {
  const rows: (number | undefined)[] = []
  let row = rowCount
  let group = groups.length - 1
  for (let index = length - 1; index >= 0 && row > 0; ) {
    const image = groups[group]
    if (image && index < image.end && index >= image.start) {
      row -= image.read
      if (row < 0) break
      for (; index >= image.start; index--) rows.push(undefined)
      group--
    } else {
      rows.push(--row)
      index--
    }
  }
  return rowCount > readLength ? [] : rows.reverse()
}

const listOf = (
  { ids, logprobs }: LogprobLists,
  rows: readonly (number | undefined)[],
  k: number,
  idOfImage: (index: number) => number,
): LogprobLists => ({
  ids: rows.flatMap((row, index) =>
    row === undefined ? Array.from({ length: k }, () => idOfImage(index)) : ids.slice(row * k, (row + 1) * k),
  ),
  logprobs: rows.flatMap((row) =>
    row === undefined ? Array.from({ length: k }, () => null) : logprobs.slice(row * k, (row + 1) * k),
  ),
})
