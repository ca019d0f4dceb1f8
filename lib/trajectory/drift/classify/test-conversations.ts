/** Agent conversations with real tokenizers and templates, and edits that a pipeline might make to their texts. */
import { hermes } from '#lib/parsers/json/hermes.ts'
import { pythonic } from '#lib/parsers/python/pythonic.ts'
import { endOfTurnId } from '#lib/rollout/prompt/prompt.ts'
import { withTokenizer } from '#lib/rollout/record/with-tokenizer.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { Message, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'

/** A trajectory with the tokenizer of its ids. */
export interface Base {
  readonly name: string
  readonly trajectory: Trajectory
  readonly tokenizer: Tokenizer
}

/** Reads an example trajectory with its tokenizer. */
export function example(name: string): Base {
  return { name, trajectory: exampleTrajectory(name), tokenizer: tiny.tokenizer }
}

const tiny = loadedTokenizer(tokenizerFolder('tiny-qwen3'))

/** Returns the three agents below for a model's tokenizer and template, with calls in the format of a parser. */
export function agentConversations(model: string, parser = hermes): readonly Base[] {
  const { tokenizer, template } = loadedTokenizer(tokenizerFolder(model))
  const promptEncoder = { tokenizer, template: template(true) ?? fail(model) }
  const end = endOfTurnId(promptEncoder, {}) ?? fail(model)
  return SCRIPTS.map(({ name, turns }) => ({
    name: `${model} ${name}, ${parser.name}`,
    tokenizer,
    trajectory: simulateRollout(
      promptEncoder,
      turns.map(({ messages, reply }) => ({
        messages,
        reply: [...tokenizer.encode(parser === pythonic ? inPython(reply) : reply), end],
        finish: { kind: 'stop', matched: end },
      })),
      { tools, parser },
    ).trajectory,
  }))
}

function fail(what: string): never {
  throw new Error(what)
}

/**
 * Returns the trajectory as a pipeline without token ids would see it: different segments, and spans parsed again.
 * Messages and model stay.
 */
export function withSegments(
  { trajectory, tokenizer }: Base,
  segments: readonly Segment[],
  tools?: readonly ToolSpec[],
): Trajectory {
  const endOfTurn = trajectory.model.tokenizer?.endOfTurnId
  const retokenized = withTokenizer(
    {
      ...trajectory,
      segments: segments.map(
        (segment): Segment =>
          segment.kind === 'prompt'
            ? { kind: 'prompt', ids: segment.ids, messages: segment.messages }
            : { kind: 'response', ids: segment.ids, thinks: [], toolCalls: [] },
      ),
      provenance: { kind: 'retokenized', mode: 'text', parent: trajectory.id },
    },
    { tokenizer, endOfTurnId: endOfTurn, parser: trajectory.model.parser === pythonic.name ? pythonic : hermes },
  )
  return { ...retokenized, model: { ...retokenized.model, tools: tools ?? retokenized.model.tools } }
}

/** Returns undefined if the edit does not change the text. */
export function edited(base: Base, index: number, edit: (text: string) => string): Trajectory | undefined {
  const { segments, vocab } = base.trajectory
  const segment = segments[index] as Segment
  const text = textOf(segment.ids, vocab)
  const other = edit(text)
  if (other === text) return undefined
  const ids = base.tokenizer.encode(other)
  // A tokenizer that normalises undoes some edits.
  return ids.join() === segment.ids.join() ? undefined : withSegments(base, segments.with(index, { ...segment, ids }))
}

/** Returns the trajectory with the ids of one segment replaced. */
export const withIds = (base: Base, index: number, ids: readonly number[]): Trajectory =>
  withSegments(
    base,
    base.trajectory.segments.with(index, { ...(base.trajectory.segments[index] as Segment), ids: [...ids] }),
  )

const tools: readonly ToolSpec[] = [
  {
    name: 'book',
    description: 'Books a room in a city.',
    inputSchema: {
      type: 'object',
      properties: { city: { type: 'string' }, nights: { type: 'number' }, breakfast: { type: 'boolean' } },
      required: ['city'],
    },
  },
  {
    name: 'search',
    description: 'Searches the web.',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
  },
]

const user = (content: string): Message => ({ role: 'user', content })
const system = (content: string): Message => ({ role: 'system', content })
const result = (content: string): Message => ({ role: 'tool', content })
const thought = (text: string): string => `<think>\n${text}\n</think>\n\n`
const call = (name: string, input: string): string =>
  `<tool_call>\n{"name": "${name}", "arguments": ${input}}\n</tool_call>`

/** Rewrites the calls of a reply as a Python list. */
const inPython = (reply: string): string =>
  reply.replace(/(?:\n?<tool_call>[\s\S]*?<\/tool_call>)+/, (calls) => {
    const written = Array.from(
      calls.matchAll(/\{"name": "(\w+)", "arguments": \{(.*)\}\}/g),
      ([, name, members = '']) => {
        const named = Array.from(members.matchAll(MEMBER), ([, key, value = '']) => `${key}=${WORDS[value] ?? value}`)
        return `${name}(${named.join(', ')})`
      },
    )
    return `[${written.join(', ')}]`
  })

const MEMBER = /"(\w+)": ("[^"]*"|\[[^\]]*\]|[^",\]]+)(?=,|$)/g
const WORDS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

interface Script {
  readonly name: string
  readonly turns: readonly { readonly messages: readonly Message[]; readonly reply: string }[]
}

const SCRIPTS: readonly Script[] = [
  {
    name: 'books',
    turns: [
      {
        messages: [
          system('You are a careful travel agent. Answer in one sentence.'),
          user('A café hotel in São Paulo for 2 nights, please.'),
        ],
        reply: `${thought('The user wants a room in São Paulo. I call the tool with two nights.')}I will book it.\n\n${call(
          'book',
          '{"city": "São Paulo", "nights": 2, "breakfast": true, "note": null, "price": 120.0}',
        )}`,
      },
      {
        messages: [result('{"ok": true, "id": "a/b-17"}')],
        reply: `${thought('It worked; the id is a/b-17.')}Your room in São Paulo is booked: a/b-17, façade side, with breakfast.`,
      },
      {
        messages: [user('And one in Zürich for 3 nights, without breakfast?')],
        reply: `${thought('Another one, in Zürich.')}${call('book', '{"city": "Zürich", "nights": 3, "breakfast": false, "tags": ["quiet", "near the lake"]}')}`,
      },
      {
        messages: [result('{"ok": true}')],
        reply: `${thought('Done.')}Zürich is booked as well. Bon voyage, and enjoy the crème brûlée!`,
      },
    ],
  },
  {
    name: 'searches',
    turns: [
      {
        messages: [
          system('You are a search assistant.'),
          user('What is 東京 known for? Also look at ﬁrst-class trains.'),
        ],
        reply: `${thought('Two searches are needed.')}${call('search', '{"query": "東京 naïve guide", "limit": 5, "exact": true}')}\n${call(
          'search',
          '{"query": "ﬁrst class train/rail", "limit": 10, "since": 2019.0, "lang": null}',
        )}`,
      },
      {
        messages: [result('Temples, food, towers.'), result('Fast ① and comfortable ②.')],
        reply: `${thought('I can answer from both results.')}東京 is known for temples and food. The ﬁrst-class trains are fast ① and comfortable ②; see Ångström’s résumé.`,
      },
    ],
  },
  {
    name: 'talks',
    turns: [
      {
        messages: [user('Tell me about rivers.')],
        reply:
          'Rivers carry water from the mountains to the sea. The Rhône and the Señorío flow south; others flow north.',
      },
      {
        messages: [user('And about lakes?')],
        reply: `Lakes hold still water.\n\nSome are salty, e.g. the Dead Sea, and some are deep: Baikal is 1642 metres deep. ${call('search', '{"query": "deepest lakes", "limit": 3, "ratio": 0.5}')}`,
      },
      {
        messages: [result('Baikal, Tanganyika, Caspian Sea')],
        reply: 'The deepest lakes are Baikal and Tanganyika. Voilà!',
      },
    ],
  },
]
