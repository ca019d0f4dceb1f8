import { RANGES, type Setup } from '#lib/settings/setup.ts'
import type { ShownStatus } from '../servers/server-state.tsx'
import { CheckField, SelectField, TextArea, TextField } from '../ui/field.tsx'
import { LimitInput, type NumberInputs, SamplingInput } from './number-inputs.tsx'
import { TokenizerField } from './tokenizer-field.tsx'

interface MoreSettingsProps extends NumberInputs {
  readonly status: ShownStatus
  readonly choices: {
    readonly parsers: readonly string[]
    readonly defaultParser: string
    /** Milliseconds that a tool call may take unless a limit says otherwise; undefined while it is not known. */
    readonly toolTimeoutMs?: number | undefined
  }
  /** The first turn has fixed what is part of the tokens. */
  readonly isFixed: boolean
}

/** What few runs need. */
export function MoreSettings({ setup, onChange, errors, status, choices, isFixed }: MoreSettingsProps) {
  const set = <K extends keyof Setup>(key: K, value: Setup[K]) => onChange({ ...setup, [key]: value })
  const number = { setup, onChange, errors }
  return (
    <div className="mt-3 grid gap-3">
      <div className="grid grid-cols-2 gap-2.5">
        <SamplingInput name="top_k" {...number} />
        <SamplingInput name="min_p" {...number} />
        <LimitInput name="maxToolCalls" {...number} />
        <LimitInput name="maxParallelToolCalls" {...number} />
        <LimitInput name="maxMessages" {...number} />
        <LimitInput name="toolTimeoutMs" placeholder={String(choices.toolTimeoutMs ?? '')} {...number} />
        <TextField
          label={RANGES.topLogprobs.label}
          explanation={RANGES.topLogprobs.explanation}
          inputMode="numeric"
          value={setup.topLogprobs}
          error={errors.topLogprobs}
          onChange={(event) => set('topLogprobs', event.target.value)}
        />
      </div>
      <TextArea
        label="stop texts, one a line"
        rows={2}
        value={setup.sampling.stop}
        onChange={(event) => set('sampling', { ...setup.sampling, stop: event.target.value })}
      />
      <CheckField
        label="Prompt logprobs"
        note="of new turns"
        checked={setup.promptLogprobs}
        onChange={(event) => set('promptLogprobs', event.target.checked)}
      />
      <CheckField
        label="Live view"
        note="tokens as they come; off: whole replies, fewest bytes"
        checked={setup.stream}
        onChange={(event) => set('stream', event.target.checked)}
      />
      <fieldset disabled={isFixed} className="grid gap-3 disabled:opacity-60">
        <legend className="sr-only">Template</legend>
        <SelectField
          label="Tool-call parser"
          value={setup.parser}
          onChange={(event) => set('parser', event.target.value)}
        >
          <option value="">{serverParserText(status, choices.defaultParser)}</option>
          {choices.parsers.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
        <TokenizerField
          tokenizer={setup.tokenizer}
          isFixed={isFixed}
          status={status}
          onChange={(tokenizer) => set('tokenizer', tokenizer)}
        />
        <TextArea
          label="Chat template, Jinja"
          explanation="Rendered in place of the tokenizer’s own: for tokenizers without one, and for servers that encode but do not render"
          rows={2}
          className="font-mono"
          placeholder="the tokenizer’s"
          value={setup.chatTemplate}
          onChange={(event) => set('chatTemplate', event.target.value)}
        />
        <TextArea
          label="Template options, JSON"
          rows={2}
          className="font-mono"
          placeholder="{}"
          value={setup.templateOptions}
          error={errors.templateOptions}
          onChange={(event) => set('templateOptions', event.target.value)}
        />
      </fieldset>
    </div>
  )
}

/** What leaving the choice to the server means right now. */
function serverParserText(status: ShownStatus, defaultParser: string): string {
  if (status.state !== 'ready') return 'as the server says'
  const { parser, toolCallParser } = status
  if (toolCallParser === undefined) return `${defaultParser}: the server names none`
  return parser === undefined
    ? `${defaultParser}: the server’s ${toolCallParser} is not known here`
    : `as the server says: ${parser}`
}
