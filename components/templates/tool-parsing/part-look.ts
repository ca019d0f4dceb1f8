/** How each part of a completion looks. Never by colour alone: parts differ in weight, lines and slant too. */
import type { TilePart } from '#lib/templates/tool-parsing/tiles.ts'

export const PART_LOOKS: Readonly<Record<TilePart, string>> = {
  marker: 'text-faint',
  name: 'font-semibold text-tool underline decoration-2 underline-offset-3',
  key: 'text-tool underline decoration-dotted underline-offset-3',
  value: 'bg-accent-soft text-ink-trained',
  malformed: 'bg-bad-soft text-bad underline decoration-wavy decoration-1 underline-offset-3',
  dropped: 'bg-warn-soft text-warn line-through decoration-2',
  think: 'text-think italic',
  rest: '',
}

export const PART_NAMES: Readonly<Record<TilePart, string>> = {
  marker: 'markup',
  name: 'name',
  key: 'argument',
  value: 'value',
  malformed: 'malformed',
  dropped: 'dropped',
  think: 'thinking',
  rest: 'left in the text',
}
