/** A side of the comparison in words. */
import type { As, TemplateChoice } from '#lib/compare/side.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'

interface AsText {
  readonly title: string
  readonly explanation: string
}

export const AS_TEXTS: Readonly<Record<As['kind'], AsText>> = {
  recorded: { title: 'TITO · as recorded', explanation: 'The ids that the model read and wrote.' },
  text: {
    title: 'Text · decode → encode',
    explanation: 'The recorded ids decoded to text, and the text encoded again.',
  },
  structured: {
    title: 'Messages · calls parsed',
    explanation:
      'Messages as a chat pipeline holds them, tool calls parsed and serialised again, through the chat template, encoded.',
  },
  raw: {
    title: 'Messages · replies as raw text',
    explanation: 'Messages whose replies are the text that the model wrote, through the chat template, encoded.',
  },
  read: {
    title: 'What the server read',
    explanation: 'Of a run over a chat endpoint: the last prompt as the server encoded it, and the last reply.',
  },
}

/** The title given, else the first question. */
export function trajectoryTitle({ title, segments }: TrajectoryView): string {
  if (title !== undefined && title.trim() !== '') return title
  for (const segment of segments) {
    if (segment.kind !== 'prompt') continue
    const asked = segment.messages.find(({ role }) => role === 'user')?.content
    if (typeof asked === 'string' && asked.trim() !== '') return asked
  }
  return 'without a question'
}

/** What a side is made with where it is not its own; undefined: all is its own. */
export function makingText(as: As): string | undefined {
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
