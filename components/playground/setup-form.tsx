import type { ReactNode } from 'react'
import { type FieldErrors, type LimitField, RANGES, type SamplingField, type Setup } from '#lib/settings/setup.ts'
import { ServerLight, type ShownStatus, statusText } from '../servers/server-state.tsx'
import { Heading } from '../ui/facts.tsx'
import { CheckField, SelectField, TextArea, TextField } from '../ui/field.tsx'
import { liveNote } from './live-note.ts'
import { TokenizerField } from './tokenizer-field.tsx'

interface SetupFormProps {
  readonly setup: Setup
  readonly onChange: (setup: Setup) => void
  readonly errors: FieldErrors
  readonly servers: readonly { readonly name: string; readonly baseUrl: string }[]
  /** Name of the server that a run would use; '' while it is not known. */
  readonly server: string
  readonly status: ShownStatus
  /** Leads to where servers are added and changed. */
  readonly manageServers: ReactNode
  readonly choices: {
    readonly tools: readonly { readonly name: string; readonly description?: string | undefined }[]
    readonly parsers: readonly string[]
    readonly defaultParser: string
  }
  /** Said where the first turn has fixed what only a new run can change; undefined before it. */
  readonly fixedNote: ReactNode
}

/** Everything a run is started with. */
export function SetupForm(props: SetupFormProps) {
  const { setup, onChange, errors, servers, server, status, manageServers, choices, fixedNote } = props
  const isFixed = fixedNote !== undefined
  const note = liveNote(status, setup)
  const set = <K extends keyof Setup>(key: K, value: Setup[K]) => onChange({ ...setup, [key]: value })
  const samplingField = (name: SamplingField) => (
    <TextField
      {...texts(name)}
      inputMode="decimal"
      value={setup.sampling[name]}
      error={errors[name]}
      onChange={(event) => set('sampling', { ...setup.sampling, [name]: event.target.value })}
    />
  )
  const limitField = (name: LimitField) => (
    <TextField
      {...texts(name)}
      inputMode="numeric"
      value={setup.limits[name]}
      error={errors[name]}
      placeholder="no limit"
      onChange={(event) => set('limits', { ...setup.limits, [name]: event.target.value })}
    />
  )
  return (
    <form className="grid gap-3" onSubmit={(event) => event.preventDefault()} aria-label="Setup">
      <div>
        <Heading>Server</Heading>
        <SelectField label="SGLang server" value={server} onChange={(event) => set('server', event.target.value)}>
          {servers.map(({ name, baseUrl }) => (
            <option key={name} value={name} title={baseUrl}>
              {name}
            </option>
          ))}
          {server !== '' && !servers.some(({ name }) => name === server) && (
            <option value={server}>{server} (not there)</option>
          )}
        </SelectField>
        <p
          className={`mt-1.5 flex items-baseline gap-1.5 text-xs ${status.state === 'failed' ? 'text-bad' : 'text-dim'}`}
          role="status"
        >
          <ServerLight status={status} />
          <span className="[overflow-wrap:anywhere]">
            {statusText(status)}
            {status.state === 'failed' && status.hint !== undefined && (
              <span className="block text-dim">{status.hint}</span>
            )}
            {note !== undefined && <span className="block text-faint">{note}</span>}
          </span>
        </p>
        <p className="mt-1.5 text-xs">{manageServers}</p>
      </div>

      <fieldset disabled={isFixed} className="grid gap-3 disabled:opacity-60">
        <legend className="sr-only">What the first turn fixes</legend>
        <TextArea
          label="System prompt"
          rows={3}
          value={setup.system}
          onChange={(event) => set('system', event.target.value)}
        />
        <div>
          <Heading>Tools</Heading>
          {choices.tools.map(({ name, description }) => (
            <CheckField
              key={name}
              label={name}
              note={description}
              checked={setup.tools.includes(name)}
              onChange={(event) =>
                set(
                  'tools',
                  event.target.checked ? [...setup.tools, name] : setup.tools.filter((tool) => tool !== name),
                )
              }
            />
          ))}
        </div>
        <CheckField
          label="Thinking"
          note="enable_thinking, where the template knows it"
          checked={setup.thinking}
          onChange={(event) => set('thinking', event.target.checked)}
        />
      </fieldset>
      {isFixed && <p className="text-faint text-xs">{fixedNote}</p>}

      <div>
        <Heading>Sampling</Heading>
        <div className="grid grid-cols-2 gap-2.5">
          {samplingField('temperature')}
          {samplingField('top_p')}
          {samplingField('max_new_tokens')}
          {samplingField('sampling_seed')}
        </div>
      </div>
      <div>
        <Heading>Limits</Heading>
        <div className="grid grid-cols-2 gap-2.5">
          {limitField('maxToolIterations')}
          {limitField('maxTokens')}
        </div>
      </div>
      <details>
        <summary className="font-semibold text-dim text-xs hover:text-ink">More settings</summary>
        <div className="mt-3 grid gap-3">
          <div className="grid grid-cols-2 gap-2.5">
            {samplingField('top_k')}
            {samplingField('min_p')}
            {limitField('maxToolCalls')}
            {limitField('maxParallelToolCalls')}
            {limitField('maxMessages')}
            <TextField
              {...texts('topLogprobs')}
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
            note="tokens as they arrive; off: whole replies, the fewest bytes"
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
      </details>
    </form>
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

function texts(name: SamplingField | LimitField | 'topLogprobs'): {
  readonly label: string
  readonly explanation?: string
} {
  if (name === 'stop') return { label: 'stop' }
  const { label, explanation } = RANGES[name]
  return { label, explanation }
}
