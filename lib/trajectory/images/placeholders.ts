/**
 * Image placeholders among tokens. A chat template writes one token where an image belongs. The image processor of the model,
 * or the server, replaces it by as many tokens as the image has positions.
 */
import { elementAt } from '#lib/util/element-at.ts'
import type { Span } from '../format/trajectory.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'

/** Texts of the token that is repeated for the positions of an image. */
const FILLERS: ReadonlySet<string> = new Set([
  '<|image_pad|>', // Qwen2-VL and later
  '<image_soft_token>', // Gemma 3 and later
  '<|image|>', // Llama 4, GLM-4V
  '<|media_pad|>', // Kimi-VL
  '<IMG_CONTEXT>', // InternVL
  '[IMG]', // Pixtral
  '<image>', // LLaVA, SmolVLM, PaliGemma
])

/** Texts of the token that a template writes if it is another one: the processor writes the repeated tokens after it. */
const MARKERS: ReadonlySet<string> = new Set(['<start_of_image>'])

/** Texts of the tokens that a processor writes after each row of an image, and after its last one. */
const ROW_ENDS: ReadonlySet<string> = new Set(['[IMG_BREAK]']) // Pixtral
const LAST_ROW_ENDS: ReadonlySet<string> = new Set(['[IMG_END]']) // Pixtral

/** Ids of the placeholders of a vocabulary. */
export interface PlaceholderIds {
  readonly fillers: ReadonlySet<number>
  readonly markers: ReadonlySet<number>
  /** Tokens after each row of an image but the last, which belong to the image. Omitted: none. */
  readonly rowEnds?: ReadonlySet<number>
  /** Tokens after the last row of an image, which belong to the image. Omitted: none. */
  readonly lastRowEnds?: ReadonlySet<number>
}

/** Returns the ids of placeholders among added tokens. */
export function placeholderIds(added: Iterable<{ readonly id: number; readonly content: string }>): PlaceholderIds {
  const tokens = [...added]
  const idsOf = (contents: ReadonlySet<string>) =>
    new Set(tokens.flatMap(({ id, content }) => (contents.has(content) ? [id] : [])))
  return {
    fillers: idsOf(FILLERS),
    markers: idsOf(MARKERS),
    rowEnds: idsOf(ROW_ENDS),
    lastRowEnds: idsOf(LAST_ROW_ENDS),
  }
}

/** Returns the placeholders among the tokens of a trajectory. */
export const placeholdersOf = ({ model, vocab }: Pick<TrajectoryView, 'model' | 'vocab'>): PlaceholderIds =>
  model.tokenizer ? idsIn(model.tokenizer.specialIds, vocab) : NO_PLACEHOLDERS

const NO_PLACEHOLDERS: PlaceholderIds = { fillers: new Set(), markers: new Set() }

/** A run that adds a special id gets another list of them, so what was found in a list stays true. */
function idsIn(specialIds: readonly number[], vocab: TrajectoryView['vocab']): PlaceholderIds {
  const known = bySpecialIds.get(specialIds)
  if (known) return known
  const found = placeholderIds(
    specialIds.flatMap((id) => {
      const content = vocab[id]
      return typeof content === 'string' ? [{ id, content }] : []
    }),
  )
  bySpecialIds.set(specialIds, found)
  return found
}

const bySpecialIds = new WeakMap<readonly number[], PlaceholderIds>()

/**
 * Returns the spans of image positions in a list of ids, in order: every longest run of one repeated placeholder, with the ends of its
 * rows. A marker that no run follows is a span by itself.
 */
export function placeholderRuns(ids: ArrayLike<number>, placeholders: PlaceholderIds): readonly Span[] {
  const { fillers, markers, rowEnds, lastRowEnds } = placeholders
  if (fillers.size + markers.size === 0) return []
  const runs: Span[] = []
  for (let index = 0; index < ids.length; ) {
    const id = elementAt(ids, index)
    let end = index + 1
    if (fillers.has(id)) {
      while (end < ids.length && (ids[end] === id || rowEnds?.has(elementAt(ids, end)))) end++
      if (end < ids.length && lastRowEnds?.has(elementAt(ids, end))) end++
      runs.push({ start: index, end })
    } else if (markers.has(id) && !fillers.has(ids[end] ?? -1)) runs.push({ start: index, end })
    index = end
  }
  return runs
}

/**
 * Returns the spans of so many images. Runs of adjacent images cannot be distinguished, unless every image has one token: then
 * each token is an image.
 */
export function imageSpans(runs: readonly Span[], images: number): readonly Span[] {
  if (runs.length === images) return runs
  const tokens = runs.flatMap(({ start, end }) =>
    Array.from({ length: end - start }, (_, offset) => ({ start: start + offset, end: start + offset + 1 })),
  )
  return tokens.length === images ? tokens : runs
}
