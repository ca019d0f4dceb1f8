/**
 * Markers are texts of a template that models read as single tokens, such as <|im_start|>. A tokenizer without them encodes their letters
 * as text, which merges with the text next to them.
 */
import type { Rendering } from '#lib/templates/jinja/rendering.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { tagsOf } from './tags.ts'

/** Forms that tokenizers give to their special tokens, and that plain text seldom has. */
const MARKER = new RegExp(
  [
    // This form is that of ChatML, Llama 3, GLM, gpt-oss and Cohere; DeepSeek has it with wide bars, Gemma 4 with a bar on one side.
    String.raw`<\|[^\s<>|{}]{1,64}\|>`,
    String.raw`<｜[^\s<>｜{}]{1,64}｜>`,
    String.raw`<\|[a-z]\w{1,40}>|<[a-z]\w{1,40}\|>`,
    // These are markers of Gemma 2 and 3, Llama 2, T5, Nemotron and Seed-OSS.
    String.raw`<(?:start|end)_of_\w{1,20}>|<(?:bos|eos|sop|eop)>|</?s>|<extra_id_\d+>|<SPECIAL_\d+>|</?seed:\w{1,20}>`,
    // These are markers of Mistral and GLM.
    String.raw`\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|CALL_ID|ARGS|THINK|MODEL_SETTINGS)\]|\[gMASK\]`,
    // These are markers of MiniMax.
    String.raw`\]~!b\[|\]~b\]|\[e~\[|\]<\]minimax\[>\[`,
  ].join('|'),
  'g',
)

/** Returns the markers that a template writes itself, each once and in its order, without those in comments. */
export function templateMarkers(template: string): readonly string[] {
  let rest = ''
  let at = 0
  for (const { kind, start, end } of tagsOf(template)) {
    rest += template.slice(at, kind === 'comment' ? start : end)
    at = end
  }
  return markersIn(rest + template.slice(at))
}

/** Returns the markers that a render has in letters of the template: some templates compose them of parts. */
export function renderedMarkers({ text, pieces }: Pick<Rendering, 'text' | 'pieces'>): readonly string[] {
  const own = pieces.filter(({ source }) => source === 'template')
  const found: string[] = []
  let index = 0
  for (const { 0: marker, index: at } of text.matchAll(MARKER)) {
    while (index < own.length && (own[index]?.end ?? 0) <= at) index++
    if ((own[index]?.start ?? Number.POSITIVE_INFINITY) <= at) found.push(marker)
  }
  return [...new Set(found)]
}

/** Returns the markers that are not tokens of a tokenizer. */
export function plainMarkers(markers: readonly string[], tokenizer: Tokenizer): readonly string[] {
  const added = new Set(tokenizer.addedTokens.map(({ content }) => content))
  return markers.filter((marker) => !added.has(marker) && tokenizer.encode(marker).length > 1)
}

const markersIn = (text: string): readonly string[] => [...new Set(text.match(MARKER) ?? [])]
