/** Texts that describe a side of the comparison. */

import { countText, rewardText } from '#components/token-view/numbers.ts'
import { visibleText } from '#components/ui/visible-text.ts'
import { isChatRun, type Reconstruction, type Side, type TemplateChoice } from '#lib/analysis/compare/side.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

interface AsText {
  readonly title: string
  readonly explanation: string
}

/** Title and explanation of each kind of side. */
export const AS_TEXTS: Readonly<Record<Reconstruction['kind'], AsText>> = {
  recorded: { title: 'TITO · as recorded', explanation: 'The ids that the model read and wrote.' },
  text: {
    title: 'Text · decode → encode',
    explanation: 'The recorded ids decoded to text, and the text encoded again.',
  },
  structured: {
    title: 'Messages · calls parsed',
    explanation:
      'Messages as a chat pipeline keeps them: tool calls parsed and serialised again, rendered with the chat template, encoded.',
  },
  raw: {
    title: 'Messages · replies as raw text',
    explanation: 'Messages with the text that the model wrote as replies, rendered with the chat template, encoded.',
  },
  read: {
    title: 'What the server read',
    explanation: 'For a run over a chat endpoint: the last prompt as the server encoded it, and the last reply.',
  },
}

interface KnownSide {
  readonly side: Side | undefined
  readonly trajectory: TrajectoryView | undefined
}

/**
 * Returns whether both sides are recorded trajectories and neither is made from the other: two samples of a group, or any
 * two. False for a chat baseline and its run, and for a conversation that was encoded again, which are compared for drift.
 */
export function areTwoSamples(left: KnownSide, right: KnownSide): boolean {
  const isRecorded = ({ side }: KnownSide) => side?.as.kind === 'recorded'
  const isBaseline = ({ trajectory }: KnownSide) => trajectory !== undefined && isChatRun(trajectory)
  return (
    isRecorded(left) &&
    isRecorded(right) &&
    left.side?.key !== right.side?.key &&
    isBaseline(left) === isBaseline(right) &&
    !isRenderedAgain(left, right) &&
    !isRenderedAgain(right, left)
  )
}

/** Returns whether a side has the conversation of the other one, encoded again. */
const isRenderedAgain = ({ trajectory }: KnownSide, { side: other }: KnownSide): boolean =>
  trajectory?.forkedFrom?.kind === 'rendered_again' && trajectory.forkedFrom.trajectory === other?.key

/** Returns a title such as `Sample 1 · vllm · reward 0`, with the server if the group has several; without a group it begins with the trajectory's title. */
export function sampleTitle(trajectory: TrajectoryView): string {
  const { group, reward } = trajectory
  return [
    group ? `Sample ${countText(group.index + 1)}` : trajectoryTitle(trajectory),
    ...(group?.server === undefined ? [] : [visibleText(group.server)]),
    ...(typeof reward === 'number' ? [`reward ${rewardText(reward)}`] : []),
  ].join(' · ')
}

/** Returns the title of a trajectory, else its first question. */
export function trajectoryTitle({ title, segments }: TrajectoryView): string {
  if (title !== undefined && title.trim() !== '') return visibleText(title)
  for (const segment of segments) {
    if (segment.kind !== 'prompt') continue
    const question = segment.messages.find(({ role }) => role === 'user')?.content
    if (typeof question === 'string' && question.trim() !== '') return visibleText(question)
  }
  return 'without a question'
}

/** Returns the chosen tokenizer and template of a side; undefined if the side uses its own. */
export function reconstructionText(as: Reconstruction): string | undefined {
  const tokenizer = 'tokenizer' in as && as.tokenizer !== undefined ? [`tokenizer ${as.tokenizer}`] : []
  const template = 'template' in as && as.template ? [`template of ${templateText(as.template)}`] : []
  const parts = [...tokenizer, ...template]
  return parts.length === 0 ? undefined : parts.join(' · ')
}

const templateText = (template: TemplateChoice): string => {
  switch (template.kind) {
    case 'tokenizer':
      return template.name
    case 'trajectory':
      return `trajectory ${template.key}`
    case 'lab':
      return 'the template lab'
  }
}
