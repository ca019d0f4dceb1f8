/** Content of a trajectory that trainer formats have no field for. It is reported before it is lost. */
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { imageDataOf } from '#lib/trajectory/images/image-boxes.ts'
import { encodingOf } from '#lib/trajectory/tokens/texts.ts'

type Words = string | ((trajectory: Trajectory) => string)

const contents = {
  texts: ['texts of single tokens', ({ vocab }) => Object.keys(vocab).length > 0],
  model: [
    'model, tokenizer, chat template and tools',
    ({ model }) => model.name !== undefined || model.tokenizer !== undefined || model.tools.length > 0,
  ],
  messages: [
    'messages',
    ({ segments }) => segments.some((segment) => segment.kind === 'prompt' && segment.messages.length > 0),
  ],
  spans: [
    'think blocks and tool calls as parsed from the text, and their results',
    ({ segments }) =>
      segments.some((segment) => segment.kind === 'response' && segment.thinks.length + segment.toolCalls.length > 0),
  ],
  calls: [
    'requests, finish reasons, usage and timing',
    ({ segments }) =>
      segments.some(
        (segment) =>
          segment.kind === 'response' && (segment.request ?? segment.finish ?? segment.usage ?? segment.timing),
      ),
  ],
  weights: [
    'weight versions',
    ({ segments }) => segments.some((segment) => segment.kind === 'response' && segment.weightVersions),
  ],
  forced: [
    'which tokens a branch inserted',
    ({ segments }) => segments.some((segment) => segment.kind === 'response' && segment.forced),
  ],
  alternatives: ['alternatives', ({ segments }) => segments.some(({ topLogprobs }) => topLogprobs)],
  columns: ['further columns', ({ segments }) => segments.some(({ columns }) => columns)],
  meanings: ['the meaning of columns', ({ columnMeanings }) => columnMeanings !== undefined],
  fork: ['the trajectory with which it shares its first tokens', ({ forkedFrom }) => forkedFrom !== undefined],
  problems: [
    'notes on problems',
    ({ problems, segments }) => (problems ?? segments.find((segment) => segment.problems)) !== undefined,
  ],
  title: [
    'title, tags and note',
    ({ title, tags, note }) => title !== undefined || note !== undefined || (tags ?? []).length > 0,
  ],
  notes: ['notes on tokens', ({ notes }) => notes !== undefined],
  reward: ['reward', ({ reward }) => reward !== undefined],
  group: ['group', ({ group }) => group !== undefined],
  outcome: ['outcome', ({ outcome }) => outcome.kind !== 'ended' || outcome.reason !== 'unknown'],
  experts: [
    'routed experts',
    ({ routedExperts, segments }) =>
      routedExperts ?? segments.some((segment) => segment.kind === 'response' && segment.routedExperts),
  ],
  images: ['images', (trajectory) => imageDataOf(trajectory).length > 0],
  encoding: [
    (trajectory) =>
      `the mark that the ids were encoded again by ${encodingOf(trajectory)?.tokenizer}: no model read or sampled them`,
    (trajectory) => encodingOf(trajectory) !== undefined,
  ],
} satisfies Record<string, readonly [words: Words, isThere: (trajectory: Trajectory) => unknown]>

/** Loss of the id of a group, in words. */
export const GROUP_ID_LOSS = 'id of the group: the file has a number instead'

/** Returns the losses of a sample whose group gets another id, because an earlier group of the file has it. */
export const withGroupIdLoss = (losses: readonly string[]): readonly string[] =>
  losses.includes(contents.group[0]) || losses.includes(GROUP_ID_LOSS) ? losses : [...losses, GROUP_ID_LOSS]

/** A kind of content that a format may lack. */
export type Content = keyof typeof contents

/** Returns the kind `images` if images in messages are all images of the trajectory: then a format with messages keeps them. */
export const imagesOfMessages = ({ segments }: Trajectory): readonly Content[] =>
  imageDataOf({ segments }).length > 0 ? ['images'] : []

/** Returns the kind `experts` if a format can write them: it has no field for experts with a gap between them. */
export const writableExperts = (written: object | undefined): readonly Content[] => (written ? ['experts'] : [])

/** Names all content that is present and not kept. */
export const listDroppedContent = (trajectory: Trajectory, writtenContent: readonly Content[]): string[] =>
  Object.entries(contents).flatMap(([name, [words, isThere]]) =>
    !writtenContent.includes(name as Content) && isThere(trajectory)
      ? [typeof words === 'string' ? words : words(trajectory)]
      : [],
  )

/** Names the additional fields of another program's file. */
export const listDroppedForeignFields = ({ foreign = {} }: Trajectory, own: string): string[] =>
  Object.keys(foreign)
    .filter((name) => name !== own)
    .map((name) => `further fields of the ${name} file`)
