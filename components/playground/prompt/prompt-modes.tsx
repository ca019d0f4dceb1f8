import { PROMPT_MODES, type PromptMode } from '#lib/share/settings/prompt-draft.ts'

interface PromptModesProps {
  readonly mode: PromptMode
  readonly onChange: (mode: PromptMode) => void
}

const NAMES = { question: 'Question', conversation: 'Conversation', text: 'Text', ids: 'Ids' } as const
const TITLES = {
  question: 'A question, after the system prompt',
  conversation: 'A whole conversation through the chat template',
  text: 'The prompt as text, without a chat template',
  ids: 'The prompt as token ids, as they are',
} as const

/** What a run begins with. */
export const PromptModes = ({ mode, onChange }: PromptModesProps) => (
  <fieldset className="flex gap-3">
    <legend className="sr-only">Prompt as</legend>
    {PROMPT_MODES.map((one) => (
      <button
        key={one}
        type="button"
        title={TITLES[one]}
        aria-pressed={one === mode}
        onClick={() => onChange(one)}
        className="-mb-1 min-w-6 shrink-0 border-transparent border-b-2 py-0.5 text-dim hover:text-ink aria-pressed:border-accent aria-pressed:font-medium aria-pressed:text-ink"
      >
        {NAMES[one]}
      </button>
    ))}
  </fieldset>
)
