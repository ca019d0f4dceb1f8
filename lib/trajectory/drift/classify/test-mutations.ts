/** Known causes of drift; each is applied to a trajectory at a random position. */

import { unicodeEscape } from '#lib/json/unicode-escape.ts'
import { retokenize } from '#lib/rollout/record/retokenize.ts'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { bytesOf, textOf } from '#lib/trajectory/tokens/pieces.ts'
import type { DriftKind } from '../kinds.ts'
import { type Base, edited, withIds, withSegments } from './test-conversations.ts'

/** Returns a seeded random number from 0 up to, but without, a bound. */
export type Chance = (bound: number) => number

/** Creates a seeded random generator. */
export function chance(seed: number): Chance {
  let state = seed
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

interface Pair {
  readonly left: Trajectory
  readonly right: Trajectory
}

/** A known cause of drift. */
export interface Mutation {
  readonly kind: DriftKind
  readonly detail?: string
  /** Distinguishes mutations of one kind. */
  readonly how: string
  /** A kind that may occur in addition. */
  readonly beside?: DriftKind
  /** Returns undefined if the trajectory has no such part. */
  readonly apply: (base: Base, random: Chance) => Pair | undefined
}

const pick = <T>(all: readonly T[], random: Chance): T | undefined => all[random(all.length)]

/** Puts the original on the left and the result on the right. */
const forwards = ({ trajectory }: Base, right: Trajectory | undefined): Pair | undefined =>
  right && { left: trajectory, right }
const backwards = ({ trajectory }: Base, left: Trajectory | undefined): Pair | undefined =>
  left && { left, right: trajectory }

const segmentsOfKind = ({ trajectory }: Base, kind: Segment['kind']): readonly number[] =>
  trajectory.segments.flatMap((segment, index) => (segment.kind === kind ? [index] : []))

/** Edits the text of a segment of a kind. */
const editing =
  (kind: Segment['kind'], edit: (text: string, random: Chance, base: Base) => string) =>
  (base: Base, random: Chance): Trajectory | undefined => {
    const index = pick(segmentsOfKind(base, kind), random)
    return index === undefined ? undefined : edited(base, index, (text) => edit(text, random, base))
  }

/** Edits one match of a pattern. */
const replacing =
  (kind: Segment['kind'], pattern: RegExp, replace: (found: string, random: Chance, base: Base) => string) =>
  (base: Base, random: Chance): Trajectory | undefined =>
    editing(kind, (text) => {
      const found = pick([...text.matchAll(pattern)], random)
      if (!found) return text
      return text.slice(0, found.index) + replace(found[0], random, base) + text.slice(found.index + found[0].length)
    })(base, random)

const pieces = ({ trajectory: { vocab } }: Base, id: number): Uint8Array => bytesOf(vocab[id] ?? '')
const single = ({ tokenizer }: Base, bytes: Uint8Array): number | undefined => {
  const ids = tokenizer.encode(new TextDecoder().decode(bytes))
  return ids.length === 1 && tokenizer.bytes(ids[0] as number).length === bytes.length ? ids[0] : undefined
}

/** Replaces `count` tokens by two tokens with the same bytes. */
const recut =
  (count: 1 | 2) =>
  (base: Base, random: Chance): Trajectory | undefined => {
    const index = pick(segmentsOfKind(base, 'response'), random) as number
    const ids = (base.trajectory.segments[index] as Segment).ids
    const special = new Set(base.trajectory.model.tokenizer?.specialIds)
    for (let attempt = 0; attempt < 40; attempt++) {
      const at = random(ids.length - count)
      const replaced = ids.slice(at, at + count)
      if (replaced.some((id) => special.has(id))) continue
      const bytes = Uint8Array.from(replaced.flatMap((id) => [...pieces(base, id)]))
      const place = 1 + random(bytes.length - 1)
      const two = [bytes.slice(0, place), bytes.slice(place)].map((part) => single(base, part))
      if (two.includes(undefined) || two.join() === replaced.join()) continue
      return withIds(base, index, [...ids.slice(0, at), ...(two as number[]), ...ids.slice(at + count)])
    }
    return undefined
  }

const ACCENTED = /[\p{L}]*[à-üÅ-Ü][\p{L}]*/gu
const LIGATED = /[ﬁ①②][\p{L}]*/gu

/** Rewrites the text of a call. */
const inCalls = (rewrite: (call: Call, random: Chance) => string) =>
  replacing('response', /<tool_call>\n[\s\S]*?\n<\/tool_call>/g, (text, random) => {
    const body = JSON.parse(text.slice('<tool_call>\n'.length, -'\n</tool_call>'.length)) as Call
    const source = text.slice('<tool_call>\n'.length, -'\n</tool_call>'.length)
    const body2 = rewrite({ ...body, source }, random)
    return body2 === '' ? '' : `<tool_call>\n${body2}\n</tool_call>`
  })

interface Call {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly source: string
}

const shuffled = (text: string, { name, arguments: input }: Call): string => {
  const values = new Map(
    [...text.matchAll(/"(\w+)": ("[^"]*"|\[[^\]]*\]|[^",}\]]+)(?=[,}])/g)].map(([, key, value]) => [
      key as string,
      value as string,
    ]),
  )
  const keys = Object.keys(input).toReversed()
  return `{"name": "${name}", "arguments": {${keys.map((key) => `"${key}": ${values.get(key)}`).join(', ')}}}`
}

/** Rewrites a Python call; `members` are the source texts of its arguments. */
const inPythonCalls = (rewrite: (members: readonly string[], random: Chance) => string) =>
  replacing('response', /(?<=(?:book|search)\()[^()]*(?=\))/g, (text, random) =>
    rewrite(text.match(/\w+=(?:"[^"]*"|\[[^\]]*\]|[^",\]]+)(?=,|$)/g) ?? [], random),
  )

const escapedNonAscii = (text: string): string => text.replace(/[\u0080-\uffff]/g, unicodeEscape)

const isThinking = (text: string): boolean => text.includes('</think>')
const THINK = /<think>\n[\s\S]*?\n<\/think>\n\n?/

const endOf = ({ trajectory: { model } }: Base): number => model.tokenizer?.endOfTurnId as number
const endText = (base: Base): string => textOf([endOf(base)], base.trajectory.vocab)

/** Rewrites a segment without its end-of-turn token. */
const atEnd =
  (change: (ids: readonly number[], base: Base, random: Chance) => readonly number[] | undefined) =>
  (base: Base, random: Chance): Trajectory | undefined => {
    const index = pick(segmentsOfKind(base, 'response'), random) as number
    const { ids } = base.trajectory.segments[index] as Segment
    const changed = ids.at(-1) === endOf(base) ? change(ids, base, random) : undefined
    return changed && withIds(base, index, changed)
  }

const otherEnd = ({ tokenizer, trajectory }: Base): number | undefined =>
  tokenizer.addedTokens.find(
    ({ id, content }) =>
      id !== endOf({ tokenizer, trajectory, name: '' }) && /endoftext|eom_id|end_of_text|EOT/.test(content),
  )?.id

const spelling =
  (kind: Segment['kind']) =>
  (base: Base, random: Chance): Trajectory | undefined => {
    const index = pick(segmentsOfKind(base, kind), random) as number
    const { ids } = base.trajectory.segments[index] as Segment
    const special = new Set(base.trajectory.model.tokenizer?.specialIds)
    const at = pick(
      ids.flatMap((id, token) => (special.has(id) ? [token] : [])),
      random,
    )
    if (at === undefined) return undefined
    const text = textOf([ids[at] as number], base.trajectory.vocab)
    const half = 1 + random(text.length - 1)
    const spelled = [text.slice(0, half), text.slice(half)].flatMap((part) => base.tokenizer.encode(part))
    return withIds(base, index, [...ids.slice(0, at), ...spelled, ...ids.slice(at + 1)])
  }

const firstSegment =
  (change: (ids: readonly number[], base: Base, random: Chance) => readonly number[] | undefined) =>
  (base: Base, random: Chance): Trajectory | undefined => {
    const changed = change((base.trajectory.segments[0] as Segment).ids, base, random)
    return changed && withIds(base, 0, changed)
  }

const hasSystem = ({ trajectory }: Base): boolean =>
  trajectory.segments[0]?.kind === 'prompt' && trajectory.segments[0].messages[0]?.role === 'system'

const cutOff = (base: Base, random: Chance): Trajectory => {
  const { segments } = base.trajectory
  const last = 1 + random(segments.length - 1)
  const segment = segments[last] as Segment
  const ids = segment.ids.slice(0, random(segment.ids.length - 3))
  return withSegments(
    base,
    ids.length === 0 ? segments.slice(0, last) : [...segments.slice(0, last), { ...segment, ids }],
  )
}

/** Truncates within the last token, by characters. */
function cutInToken(base: Base, random: Chance): Trajectory | undefined {
  const { segments, vocab } = base.trajectory
  const last = 1 + random(segments.length - 1)
  const segment = segments[last] as Segment
  const text = textOf(segment.ids, vocab)
  const ids = base.tokenizer.encode(text.slice(0, 1 + random(text.length - 24)).toWellFormed())
  return withSegments(base, [...segments.slice(0, last), { ...segment, ids }])
}

/** Inserts ids that begin a character into a response; the right side is its text, encoded again. */
function halfCharacter(base: Base, random: Chance): Pair | undefined {
  const index = pick(segmentsOfKind(base, 'response'), random) as number
  const { ids } = base.trajectory.segments[index] as Segment
  const rare = base.tokenizer.encode(pick(['𓀀', '𝔊', 'ꙮ', '🜚', '𒀀'], random) as string)
  if (rare.length < 2) return undefined
  const at = random(ids.length - 1)
  const left = [...ids.slice(0, at), ...rare.slice(0, -1), ...ids.slice(at)]
  return {
    left: withIds(base, index, left),
    right: withIds(base, index, retokenize(left, base.tokenizer)),
  }
}

/** All mutations of JSON calls. */
export const MUTATIONS: readonly Mutation[] = [
  {
    kind: 'split',
    detail: 'split',
    how: 'a token in two',
    apply: (base, random) => forwards(base, recut(1)(base, random)),
  },
  {
    kind: 'split',
    detail: 'merge',
    how: 'two in one',
    apply: (base, random) => backwards(base, recut(1)(base, random)),
  },
  {
    kind: 'split',
    detail: 'shift',
    how: 'cut elsewhere',
    apply: (base, random) => forwards(base, recut(2)(base, random)),
  },
  {
    kind: 'normalisation',
    detail: 'NFD',
    how: 'composed to decomposed',
    apply: (base, random) =>
      forwards(base, replacing('response', ACCENTED, (text) => text.normalize('NFD'))(base, random)),
  },
  {
    kind: 'normalisation',
    detail: 'NFC',
    how: 'decomposed to composed',
    apply: (base, random) =>
      backwards(base, replacing('response', ACCENTED, (text) => text.normalize('NFD'))(base, random)),
  },
  {
    kind: 'normalisation',
    detail: 'NFKC',
    how: 'ligatures and digits in circles',
    apply: (base, random) =>
      forwards(base, replacing('response', LIGATED, (text) => text.normalize('NFKC'))(base, random)),
  },
  { kind: 'partial-utf8', how: 'a character in half', apply: halfCharacter },
  {
    kind: 'call-json',
    detail: 'spacing',
    how: 'compact or indented',
    apply: (base, random) =>
      forwards(
        base,
        inCalls(({ source }, within) =>
          within(2) === 0 ? source.replace(/([:,]) /g, '$1') : source.replace(/, "/g, ',\n  "'),
        )(base, random),
      ),
  },
  {
    kind: 'call-json',
    detail: 'key-order',
    how: 'keys reversed',
    apply: (base, random) => forwards(base, inCalls((call) => shuffled(call.source, call))(base, random)),
  },
  {
    kind: 'call-json',
    detail: 'escapes',
    how: 'ensure_ascii, or slashes',
    apply: (base, random) =>
      forwards(base, inCalls(({ source }) => escapedNonAscii(source).replaceAll('/', '\\/'))(base, random)),
  },
  {
    kind: 'call-json',
    detail: 'booleans',
    how: 'as Python spells them',
    apply: (base, random) =>
      forwards(
        base,
        inCalls(({ source }) =>
          source.replace(
            /\b(true|false|null)\b/g,
            (word) => ({ true: 'True', false: 'False', null: 'None' })[word] as string,
          ),
        )(base, random),
      ),
  },
  {
    kind: 'call-json',
    detail: 'numbers',
    how: 'floats and integers',
    apply: (base, random) =>
      forwards(
        base,
        inCalls(({ source }) =>
          source.replace(/: (\d+)(\.0)?(?=[,}])/g, (_, digits, float) => `: ${digits}${float ? '' : '.0'}`),
        )(base, random),
      ),
  },
  {
    kind: 'call-json',
    detail: 'quotes',
    how: 'as Python prints a dict',
    apply: (base, random) => forwards(base, inCalls(({ source }) => source.replaceAll('"', "'"))(base, random)),
  },
  {
    kind: 'call-rewritten',
    detail: 'dropped',
    how: 'the parser took it',
    apply: (base, random) =>
      forwards(base, replacing('response', /<tool_call>\n[\s\S]*?\n<\/tool_call>\n?/g, () => '')(base, random)),
  },
  {
    kind: 'call-rewritten',
    detail: 'changed',
    how: 'another value',
    apply: (base, random) =>
      forwards(
        base,
        inCalls(({ source }, within) =>
          within(2) === 0
            ? source.replace(/: (\d+)/, ': "$1"')
            : source.replace(/(: "[^"]*)"}?/, (found) => found.replace(/"(}?)$/, ' etc."$1')),
        )(base, random),
      ),
  },
  {
    kind: 'call-rewritten',
    detail: 'moved',
    how: 'behind the content, or before it',
    beside: 'separator',
    apply: (base, random) =>
      forwards(
        base,
        editing('response', (text) => {
          const call = /<tool_call>\n[\s\S]*?\n<\/tool_call>/.exec(text)
          if (!call || text.replace(THINK, '').startsWith('<tool_call>')) return text
          const rest = text.replace(call[0], '')
          return rest.replace(THINK, '') === rest
            ? `${call[0]}\n${rest}`
            : rest.replace(/<\/think>\n\n/, `</think>\n\n${call[0]}\n`)
        })(base, random),
      ),
  },
  {
    kind: 'think-stripped',
    how: 'the whole block',
    apply: (base, random) => forwards(base, editing('response', (text) => text.replace(THINK, ''))(base, random)),
  },
  {
    kind: 'think-stripped',
    how: 'emptied',
    apply: (base, random) =>
      forwards(base, editing('response', (text) => text.replace(THINK, '<think>\n\n</think>\n\n'))(base, random)),
  },
  {
    kind: 'think-inserted',
    how: 'an empty block',
    apply: (base, random) =>
      forwards(
        base,
        editing('response', (text) => (isThinking(text) ? text : `<think>\n\n</think>\n\n${text}`))(base, random),
      ),
  },
  {
    kind: 'end-of-turn',
    detail: 'missing',
    how: 'trimmed',
    apply: (base, random) => forwards(base, atEnd((ids) => ids.slice(0, -1))(base, random)),
  },
  {
    kind: 'end-of-turn',
    detail: 'missing',
    how: 'added',
    apply: (base, random) => backwards(base, atEnd((ids) => ids.slice(0, -1))(base, random)),
  },
  {
    kind: 'end-of-turn',
    detail: 'doubled',
    how: 'twice',
    apply: (base, random) => forwards(base, atEnd((ids) => [...ids, ids.at(-1) as number])(base, random)),
  },
  {
    kind: 'end-of-turn',
    detail: 'alias',
    how: 'another token',
    apply: (base, random) =>
      backwards(
        base,
        atEnd((ids) => {
          const other = otherEnd(base)
          return other === undefined ? undefined : [...ids.slice(0, -1), other]
        })(base, random),
      ),
  },
  {
    kind: 'separator',
    how: 'before the end of the turn',
    apply: (base, random) =>
      forwards(
        base,
        editing('response', (text, within) =>
          text.replace(endText(base), (pick(['\n', '\n\n', ' '], within) as string) + endText(base)),
        )(base, random),
      ),
  },
  {
    kind: 'separator',
    how: 'behind the thoughts',
    apply: (base, random) =>
      forwards(base, editing('response', (text) => text.replace('</think>\n\n', '</think>\n'))(base, random)),
  },
  {
    kind: 'separator',
    how: 'trimmed reply',
    apply: (base, random) =>
      backwards(base, editing('response', (text) => (isThinking(text) ? text : `\n${text}`))(base, random)),
  },
  {
    kind: 'special-tokens',
    detail: 'spelled',
    how: 'in a reply',
    apply: (base, random) => forwards(base, spelling('response')(base, random)),
  },
  {
    kind: 'special-tokens',
    detail: 'spelled',
    how: 'in a prompt',
    apply: (base, random) => backwards(base, spelling('prompt')(base, random)),
  },
  {
    kind: 'special-tokens',
    detail: 'bos',
    how: 'missing or doubled',
    apply: (base, random) => {
      const [first] = (base.trajectory.segments[0] as Segment).ids
      if (!/begin/.test(textOf([first as number], base.trajectory.vocab))) return undefined
      return forwards(
        base,
        firstSegment((ids) => (random(2) === 0 ? ids.slice(1) : [first as number, ...ids]))(base, random),
      )
    },
  },
  {
    kind: 'special-tokens',
    detail: 'header',
    how: 'another role',
    apply: (base, random) =>
      forwards(
        base,
        replacing('prompt', /(?<=<\|im_start\|>|<\|start_header_id\|>)(user|assistant|ipython)(?=\n|<)/g, (role) =>
          role === 'assistant' ? 'model' : 'human',
        )(base, random),
      ),
  },
  {
    kind: 'special-tokens',
    detail: 'generation-prompt',
    how: 'at the end',
    apply: (base) => {
      const { segments, vocab } = base.trajectory
      const prompt = segments.findLast(({ kind }) => kind === 'prompt') as Segment
      const text = textOf(prompt.ids, vocab)
      const header =
        /(\n?<\|im_start\|>assistant\n|<\|start_header_id\|>assistant<\|end_header_id\|>\n\n|<｜Assistant｜>)$/.exec(
          text,
        )?.[0]
      if (header === undefined) return undefined
      return forwards(
        base,
        withSegments(base, [...segments, { kind: 'prompt', ids: base.tokenizer.encode(header), messages: [] }]),
      )
    },
  },
  {
    kind: 'context-changed',
    how: 'another system prompt',
    apply: (base, random) =>
      hasSystem(base)
        ? forwards(
            base,
            edited(base, 0, (text) =>
              text.replace(
                /You are a [\w ]+/,
                pick(['You are an expert', 'Be terse', 'You speak Latin'], random) as string,
              ),
            ),
          )
        : undefined,
  },
  {
    kind: 'context-changed',
    how: 'another tool description',
    apply: (base, random) =>
      forwards(
        base,
        edited(base, 0, (text) =>
          text.replace(
            /Searches the web|Books a room|Evaluate an arithmetic expression/,
            pick(['Does something else', 'A tool of the house, for guests only', 'Rechnet'], random) as string,
          ),
        ),
      ),
  },
  {
    kind: 'context-changed',
    how: 'a tool less',
    apply: (base) =>
      forwards(
        base,
        edited(base, 0, (text) => text.replace(/\n\{"type": "function", "function": \{"name": "search".*\}/, '')),
      ),
  },
  { kind: 'truncation', how: 'the right ends', apply: (base, random) => forwards(base, cutOff(base, random)) },
  {
    kind: 'truncation',
    how: 'within a token',
    apply: (base, random) => forwards(base, cutInToken(base, random)),
  },
  { kind: 'truncation', how: 'the left ends', apply: (base, random) => backwards(base, cutOff(base, random)) },
  {
    kind: 'content',
    how: 'another question',
    apply: (base, random) =>
      forwards(
        base,
        replacing(
          'prompt',
          /(?<=user[\s\S]*)(lakes|Zürich for 3|Now add|known for|rivers)/g,
          () => 'what the weather is in Oslo,',
        )(base, random),
      ),
  },
  {
    kind: 'content',
    how: 'another reply',
    apply: (base, random) =>
      forwards(
        base,
        replacing(
          'response',
          /(?<![\s\S]*<tool_call>[\s\S]*)(?<=\n\n|^)[A-ZÀ-Þ東][\p{L} :]+(?=[.,;])/gu,
          () => 'Hmm, that I would rather not say',
        )(base, random),
      ),
  },
]

/** Mutations of conversations whose model writes its calls in Python. */
export const PYTHONIC_MUTATIONS: readonly Mutation[] = (
  [
    ['spacing', (members, within) => members.join(',').replaceAll('=', within(2) === 0 ? ' = ' : '=')],
    ['key-order', (members) => members.toReversed().join(', ')],
    ['quotes', (members) => members.join(', ').replaceAll('"', "'")],
    ['escapes', (members) => escapedNonAscii(members.join(', '))],
    [
      'numbers',
      (members) =>
        members.join(', ').replace(/=(\d+)(\.0)?(?=,|$)/, (_, digits, float) => `=${digits}${float ? '' : '.0'}`),
    ],
    [
      'booleans',
      (members) =>
        members
          .join(', ')
          .replace(/=(True|False|None)/, (_, word: string) => `=${word === 'None' ? 'null' : word.toLowerCase()}`),
    ],
  ] satisfies readonly (readonly [string, Parameters<typeof inPythonCalls>[0]])[]
)
  .map(
    ([detail, rewrite]): Mutation => ({
      kind: 'call-json',
      detail,
      how: 'in Python',
      apply: (base, random) => forwards(base, inPythonCalls(rewrite)(base, random)),
    }),
  )
  .concat([
    {
      kind: 'call-rewritten',
      detail: 'changed',
      how: 'another value, in Python',
      apply: (base, random) =>
        forwards(
          base,
          inPythonCalls((members, within) =>
            within(2) === 0
              ? members.join(', ').replace(/=(\d+)/, '="$1"')
              : members.join(', ').replace(/(="[^"]*)"/, '$1 etc."'),
          )(base, random),
        ),
    },
    {
      kind: 'call-rewritten',
      detail: 'changed',
      how: 'another tool, in Python',
      apply: (base, random) =>
        forwards(
          base,
          replacing('response', /\b(?:book|search)(?=\()/g, (name) => (name === 'book' ? 'find' : 'look'))(
            base,
            random,
          ),
        ),
    },
    {
      kind: 'call-rewritten',
      detail: 'format',
      how: 'Python as JSON',
      beside: 'call-json',
      apply: (base, random) =>
        forwards(
          base,
          replacing('response', /\[(?:book|search)\([^()]*\)\]/g, (found) => {
            const [, name, members = ''] = /^\[(\w+)\((.*)\)\]$/.exec(found) ?? []
            const json = members
              .replace(/(\w+)=/g, '"$1": ')
              .replace(
                /: (True|False|None)/g,
                (_, word: string) => `: ${word === 'None' ? 'null' : word.toLowerCase()}`,
              )
            return `<tool_call>\n{"name": "${name}", "arguments": {${json}}}\n</tool_call>`
          })(base, random),
        ),
    },
    {
      kind: 'call-rewritten',
      detail: 'dropped',
      how: 'the parser took it, in Python',
      apply: (base, random) =>
        forwards(base, replacing('response', /\[(?:book|search)\(.*\)\]/g, () => '')(base, random)),
    },
  ])
