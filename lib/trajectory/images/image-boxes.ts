/** The images of a trajectory: the parts of its messages, and the tokens where they are. */
import { elementAt } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import type { ContentPart, Message, Span } from '../format/trajectory.ts'
import { segmentsOf } from '../tokens/tokens.ts'
import type { SegmentView, TrajectoryView } from '../tokens/trajectory-view.ts'
import { type ReadImage, readDataUrl } from './data-url.ts'
import { imageSpans, placeholderRuns, placeholdersOf } from './placeholders.ts'

/** The tokens of one image in a prompt. */
export interface ImageBox {
  /** Tokens, counted from the start of the segment. */
  readonly span: Span
  /** Number of the image in the trajectory, from 1. */
  readonly number: number
  /** The image, or why it cannot be shown. */
  readonly image: ReadImage
  /** Number of tokens that the server read for it, as the last reply reports; undefined if unknown. */
  readonly tokensRead: number | undefined
}

/** Returns the image parts of a message in order. */
export const imagePartsOf = ({ content }: Message): readonly ContentPart[] =>
  typeof content === 'object' ? content.filter(({ type }) => type === 'image') : []

/** Returns the image parts of a segment's messages in order. */
export const imagePartsIn = (segment: SegmentView): readonly ContentPart[] =>
  segment.kind === 'prompt' ? segment.messages.flatMap(imagePartsOf) : []

/** Returns the image of a part, or why there is none, read once for each part. */
export const readImagePart = memoizeByIdentity(({ image, reference }: ContentPart): ReadImage => {
  if (image !== undefined) return readDataUrl(image)
  const where = reference === undefined ? '' : `, only its address or path: ${reference}`
  return { ok: false, why: `The file does not contain it${where}. Addresses are never fetched.` }
})

/**
 * Returns the data URLs of all images in the order of their placeholders, as strands-sglang and SGLang call them
 * (`image_data`).
 */
export const imageDataOf = ({
  segments,
  imageData,
}: Pick<TrajectoryView, 'segments' | 'imageData'>): readonly string[] => {
  const own = segments.flatMap(imagePartsIn).flatMap(({ image }) => image ?? [])
  return own.length > 0 ? own : (imageData ?? [])
}

/** Returns the spans of image positions in a segment, as the token view draws them: one box for each. */
export function imageSpansOf(
  segment: SegmentView,
  trajectory: Pick<TrajectoryView, 'model' | 'vocab'>,
): readonly Span[] {
  if (segment.kind !== 'prompt') return []
  const placeholders = placeholdersOf(trajectory)
  const known = spans.get(segment)
  if (known?.placeholders === placeholders) return known.found
  const found = imageSpans(placeholderRuns(segment.ids, placeholders), imagePartsIn(segment).length)
  spans.set(segment, { placeholders, found })
  return found
}

const spans = new WeakMap<
  SegmentView,
  { readonly placeholders: ReturnType<typeof placeholdersOf>; readonly found: readonly Span[] }
>()

/** Returns the boxes of a segment. A picture is assigned only where the numbers of images and of placeholders are the same. */
export function imageBoxesOf(trajectory: TrajectoryView, segmentIndex: number): readonly ImageBox[] {
  const segment = segmentsOf(trajectory)[segmentIndex]
  const found = segment ? imageSpansOf(segment, trajectory) : []
  if (!segment || found.length === 0) return []
  const before = spansBefore(trajectory, segmentIndex)
  const parts = imagePartsIn(segment)
  const images = imagesOfSegment(trajectory, parts, before, found.length)
  const read = trajectory.segments.findLast((one) => one.kind === 'response' && one.request?.images?.tokens)
  const tokens = read?.kind === 'response' ? read.request?.images?.tokens : undefined
  return found.map((span, index) => ({
    span,
    number: before + index + 1,
    image: images ? elementAt(images, index) : UNKNOWN,
    tokensRead: tokens?.[before + index],
  }))
}

const UNKNOWN: ReadImage = {
  ok: false,
  why: 'It is unknown which image this is: the numbers of images and of placeholders differ.',
}

const spansBefore = (trajectory: TrajectoryView, segmentIndex: number): number =>
  trajectory.segments
    .slice(0, segmentIndex)
    .reduce((count, segment) => count + imageSpansOf(segment, trajectory).length, 0)

/** The images of a file without messages count through all segments; they also replace parts without an image. */
function imagesOfSegment(
  trajectory: TrajectoryView,
  parts: readonly ContentPart[],
  before: number,
  count: number,
): readonly ReadImage[] | undefined {
  const { imageData = NO_IMAGES, segments } = trajectory
  const isOfFile = imageData.length > 0 && spansBefore(trajectory, segments.length) === imageData.length
  const ofFile = isOfFile ? readAll(imageData).slice(before, before + count) : undefined
  if (parts.length === 0)
    return ofFile ?? (imageData.length > 0 ? undefined : Array.from({ length: count }, () => ABSENT))
  if (parts.length !== count) return undefined
  return parts.map((part, index) => (part.image === undefined ? ofFile?.[index] : undefined) ?? readImagePart(part))
}

const NO_IMAGES: readonly string[] = []
const ABSENT: ReadImage = { ok: false, why: 'The file contains no image for it.' }

const readAll = memoizeByIdentity((urls: readonly string[]): readonly ReadImage[] => urls.map(readDataUrl))
