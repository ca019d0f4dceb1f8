import type { ShownStatus } from '#components/shell/server-state.tsx'
import { TokenizerField } from '#components/tokenizer/tokenizer-field.tsx'
import { CheckField, SelectField, TextArea, TextField } from '#components/ui/field.tsx'
import { tooManyAlternatives, whyUnsupported } from '#lib/api/engine/unsupported.ts'
import { refusalText } from '#lib/sampling/refusal.ts'
import { RANGES, type Setup } from '#lib/share/settings/setup.ts'
import { AdapterField } from './adapter-field.tsx'
import { LimitInput, type NumberInputs } from './number-inputs.tsx'
import { ParserField } from './parser-field.tsx'

interface MoreSettingsProps extends NumberInputs {
  readonly status: ShownStatus
  readonly choices: {
    readonly parsers: readonly string[]
    readonly defaultParser: string
    /** Time limit of a tool call in milliseconds without another limit; undefined if unknown. */
    readonly toolTimeoutMs?: number | undefined
  }
  /** Whether the first turn has fixed the settings that are part of the tokens. */
  readonly isFixed: boolean
}

const contextLengthOf = (status: ShownStatus): string =>
  status.state === 'ready' && status.contextLength !== undefined ? String(status.contextLength) : 'the server’s'

/** Settings that few runs need. */
export function MoreSettings({ setup, onChange, errors, status, choices, isFixed }: MoreSettingsProps) {
  const set = <K extends keyof Setup>(key: K, value: Setup[K]) => onChange({ ...setup, [key]: value })
  const number = { setup, onChange, errors }
  const isChat = setup.endpoint === 'chat'
  const capabilities = status.state === 'ready' ? status.capabilities : undefined
  const noPromptLogprobs = whyUnsupported('promptLogprobs', capabilities)
  const noStreaming = whyUnsupported('streaming', capabilities)
  const noExperts = whyUnsupported('routedExperts', capabilities)
  const noChat = whyUnsupported('chatIds', capabilities)
  const tooMany = tooManyAlternatives(Number(setup.topLogprobs), capabilities)
  return (
    <div className="mt-3 grid gap-3">
      <div className="grid grid-cols-2 gap-2.5">
        <LimitInput name="maxToolCalls" {...number} />
        <LimitInput name="maxParallelToolCalls" {...number} />
        <LimitInput name="maxMessages" {...number} />
        <LimitInput name="contextWindow" placeholder={contextLengthOf(status)} {...number} />
        <LimitInput name="maxResultCharacters" placeholder="no limit" {...number} />
        <LimitInput name="toolTimeoutMs" placeholder={String(choices.toolTimeoutMs ?? '')} {...number} />
        <TextField
          label={RANGES.topLogprobs.label}
          explanation={RANGES.topLogprobs.explanation}
          inputMode="numeric"
          value={setup.topLogprobs}
          error={errors.topLogprobs ?? (tooMany && refusalText(tooMany))}
          onChange={(event) => set('topLogprobs', event.target.value)}
        />
      </div>
      <CheckField
        label="Prompt logprobs"
        note={
          (noPromptLogprobs && refusalText(noPromptLogprobs)) ??
          'with the run: its first token arrives later; off: requested when you look at a prompt token'
        }
        disabled={noPromptLogprobs !== undefined && !setup.promptLogprobs}
        checked={setup.promptLogprobs}
        onChange={(event) => set('promptLogprobs', event.target.checked)}
      />
      <CheckField
        label="Live view"
        note={(noStreaming && refusalText(noStreaming)) ?? 'tokens as they arrive; off: whole replies, fewer bytes'}
        disabled={noStreaming !== undefined}
        checked={setup.stream}
        onChange={(event) => set('stream', event.target.checked)}
      />
      <CheckField
        label="Routed experts"
        note={
          (noExperts && refusalText(noExperts)) ??
          'of a mixture of experts: which experts read each token, for replay in training'
        }
        disabled={(noExperts !== undefined || isChat) && !setup.routedExperts}
        checked={setup.routedExperts && !isChat}
        onChange={(event) => set('routedExperts', event.target.checked)}
      />
      <AdapterField adapter={setup.adapter} status={status} onChange={(adapter) => set('adapter', adapter)} />
      <fieldset disabled={isFixed} className="grid gap-3 disabled:opacity-60">
        <legend className="sr-only">Template</legend>
        <div>
          <SelectField
            label="Endpoint"
            value={setup.endpoint}
            onChange={({ target }) => set('endpoint', target.value === 'chat' ? 'chat' : 'generate')}
          >
            <option value="generate">
              TITO · {capabilities === undefined || capabilities.engine === 'sglang' ? '/generate' : 'token ids'}
            </option>
            <option value="chat" disabled={noChat !== undefined}>
              chat baseline · messages
            </option>
          </SelectField>
          <p className="mt-1 text-faint text-xs">
            {isChat
              ? ((noChat && refusalText(noChat)) ??
                'The agent sends messages to /v1/chat/completions, as Strands’ OpenAI provider does, and the server renders and tokenizes them again in each turn. The resulting drift is recorded.')
              : `Token-in/token-out: each turn sends the tokens that were read and sampled, and the new ones.${noChat ? ` No chat baseline: ${refusalText(noChat)}` : ''}`}
          </p>
        </div>
        <ParserField
          parser={setup.parser}
          chatTemplate={isChat ? '' : setup.chatTemplate}
          status={status}
          choices={choices}
          onChange={(parser) => set('parser', parser)}
        />
        <TokenizerField
          tokenizer={setup.tokenizer}
          isFixed={isFixed}
          status={status}
          onChange={(tokenizer) => set('tokenizer', tokenizer)}
        />
        <TextArea
          label="Chat template, Jinja"
          explanation="Replaces the tokenizer’s template: for tokenizers without one, and for servers that encode but do not render"
          rows={2}
          className="font-mono"
          placeholder={isChat ? 'the server’s' : 'the tokenizer’s'}
          disabled={isChat}
          value={isChat ? '' : setup.chatTemplate}
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
