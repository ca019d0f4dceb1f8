/** The images of a call, collected from the messages of the whole conversation each time, so that none is sent twice. */
import { EngineError } from '#lib/engine/http/errors.ts'
import type { RequestImages } from '#lib/engine/images.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { Message, Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { readDataUrl } from '#lib/trajectory/images/data-url.ts'
import { imagePartsIn, imagePartsOf, readImagePart } from '#lib/trajectory/images/image-boxes.ts'
import { imageSpans, placeholderIds, placeholderRuns } from '#lib/trajectory/images/placeholders.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { RunEnded } from './run-ended.ts'

/** Properties of a call. */
export interface ImageCall {
  readonly trajectory: Trajectory
  /** The messages that the call adds. */
  readonly messages: readonly Message[]
  /** All ids of the call. */
  readonly inputIds: readonly number[]
  readonly tokenizer: Tokenizer
  /** Fields of an outcome with the input that was not sent. */
  readonly unsent: Pick<Extract<Outcome, { kind: 'failed' }>, 'unsent' | 'unsentGiven'>
}

/**
 * Returns the images of a call; undefined if it has none. Throws RunEnded if an image cannot be sent, or if the ids do not have one
 * placeholder for each image.
 */
export function imagesOfCall({
  trajectory,
  messages,
  inputIds,
  tokenizer,
  unsent,
}: ImageCall): RequestImages | undefined {
  const own = trajectory.segments.flatMap(imagePartsIn)
  const before = own.length > 0 ? own.map(readImagePart) : (trajectory.imageData ?? []).map(readDataUrl)
  const read = [...before, ...messages.flatMap(imagePartsOf).map(readImagePart)]
  if (read.length === 0) return undefined
  const urls = read.map((image, index) => {
    if (image.ok) return image.url
    const message = `image ${index + 1} of the conversation cannot be sent. ${image.why}`
    throw failed('IMAGE_REFUSED', message, 'Remove the image, or replace it by its bytes.', unsent)
  })
  const placeholders = placeholdersOf(tokenizer)
  const spans = imageSpans(placeholderRuns(inputIds, placeholders), urls.length)
  if (spans.length !== urls.length)
    throw failed(
      'IMAGE_PLACEHOLDERS',
      `the prompt has ${countWithNoun(spans.length, 'image placeholder')}, expected ${urls.length}, one for each image`,
      spans.length < urls.length
        ? 'The chat template leaves images out, or writes a placeholder that is unknown here. Choose the tokenizer of a model that reads images.'
        : 'A text or a response contains the token of an image placeholder. Remove it from the text, or start a new run.',
      unsent,
    )
  return { urls, spans, placeholders, known: knownTokens(trajectory) }
}

const placeholdersOf = memoizeByIdentity(({ addedTokens }: Tokenizer) => placeholderIds(addedTokens))

/** Returns what the last response reports about the images before it. */
const knownTokens = ({ segments }: Trajectory): readonly number[] | undefined =>
  segments.findLast((segment) => segment.kind === 'response')?.request?.images?.tokens

/** Returns how many more tokens a server reads than are sent, as far as earlier replies reported it. */
export const furtherTokens = ({ spans, known = [] }: Pick<RequestImages, 'spans' | 'known'>): number =>
  known.reduce((sum, tokens, index) => {
    const span = spans[index]
    return span ? sum + tokens - (span.end - span.start) : sum
  }, 0)

/** Returns the same from the refusal of a call that may become longer than the context; undefined if it does not show that. */
export const furtherTokensIn = (error: unknown, { inputIds, sampling }: GenerateRequest): number | undefined =>
  error instanceof EngineError && error.context?.needed !== undefined && sampling.max_new_tokens !== undefined
    ? error.context.needed - sampling.max_new_tokens - inputIds.length
    : undefined

const failed = (code: string, message: string, hint: string, unsent: ImageCall['unsent']): RunEnded =>
  new RunEnded({ kind: 'failed', code, message, hint, ...unsent })
