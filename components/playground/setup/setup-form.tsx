import { type ComponentProps, type ReactNode, Suspense, useState } from 'react'
import { lazyCode } from '#components/shell/lazy-code.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { ServerLight, type ShownStatus, statusText } from '#components/shell/server-state.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { CheckField, SelectField, TextArea } from '#components/ui/field.tsx'
import type { SamplingField } from '#lib/sampling/fields.ts'
import type { Setup } from '#lib/share/settings/setup.ts'
import type { FieldErrors } from '#lib/share/settings/setup-request.ts'
import { LimitInput } from './number-inputs.tsx'
import { SamplingPart } from './sampling-part.tsx'
import { ToolsField } from './tools-field.tsx'

/** Rarely opened, so it is not part of the first load. */
const MoreSettings = lazyCode(async () => (await import('./more-settings.tsx')).MoreSettings)

const FurtherServers = lazyPart(async () => (await import('./further-servers.tsx')).FurtherServers)

interface SetupFormProps {
  readonly setup: Setup
  readonly onChange: (setup: Setup) => void
  readonly errors: FieldErrors
  readonly servers: readonly { readonly name: string; readonly baseUrl: string }[]
  /** Name of the server that a run would use; '' until it is known. */
  readonly server: string
  readonly status: ShownStatus
  /** Link to the page where servers are added and changed. */
  readonly manageServers: ReactNode
  /** Button that opens the tools of MCP servers. */
  readonly mcpServers: ReactNode
  readonly choices: {
    readonly tools: ComponentProps<typeof ToolsField>['builtIn']
    readonly parsers: readonly string[]
    readonly defaultParser: string
    /** Time limit of a tool call in milliseconds without another limit; undefined if unknown. */
    readonly toolTimeoutMs?: number | undefined
  }
  /** Note on how replies can be watched live; undefined if they arrive nearly token by token. */
  readonly note: string | undefined
  /** Opens the list of all sampling parameters, at one of them or at its beginning. */
  readonly onAllSampling: (field: SamplingField | undefined) => void
  /** Note that the first turn has fixed settings that only a new run can change; undefined before the first turn. */
  readonly fixedNote: ReactNode
}

/** Form with all settings of a run. */
export function SetupForm(props: SetupFormProps) {
  const {
    setup,
    onChange,
    errors,
    servers,
    server,
    status,
    manageServers,
    mcpServers,
    choices,
    note,
    onAllSampling,
    fixedNote,
  } = props
  const isFixed = fixedNote !== undefined
  const [isMoreAsked, setIsMoreAsked] = useState(false)
  const set = <K extends keyof Setup>(key: K, value: Setup[K]) => onChange({ ...setup, [key]: value })
  const number = { setup, onChange, errors }
  return (
    <form className="grid gap-3" onSubmit={(event) => event.preventDefault()} aria-label="Setup">
      <div>
        <SelectField
          label="Server"
          value={server}
          onChange={({ target: { value } }) =>
            onChange({
              ...setup,
              server: value,
              furtherServers: setup.furtherServers.filter((name) => name !== value),
            })
          }
        >
          {servers.map(({ name, baseUrl }) => (
            <option key={name} value={name} title={baseUrl}>
              {name}
            </option>
          ))}
          {server !== '' && !servers.some(({ name }) => name === server) && (
            <option value={server}>{server} (missing)</option>
          )}
        </SelectField>
        <p
          className={`mt-1.5 flex min-h-[2lh] items-baseline gap-1.5 text-xs ${status.state === 'failed' ? 'text-bad' : 'text-dim'}`}
          role="status"
        >
          <ServerLight status={status} />
          <span className="[overflow-wrap:anywhere]">
            {statusText(status)}
            {status.state === 'failed' && status.hint !== undefined && (
              <span className="block text-dim">{status.hint}</span>
            )}
            {setup.adapter.trim() !== '' && <span className="block">LoRA adapter {setup.adapter}</span>}
            {note !== undefined && <span className="block text-faint">{note}</span>}
          </span>
        </p>
        {!isFixed && (servers.length > 1 || setup.furtherServers.length > 0) && (
          <FurtherServers
            servers={servers}
            server={server}
            chosen={setup.furtherServers}
            // The default server gets its name, because a list of servers has names only.
            onChange={(furtherServers) => onChange({ ...setup, server, furtherServers })}
          />
        )}
        <p className="mt-1.5 text-xs">{manageServers}</p>
      </div>

      <fieldset disabled={isFixed} className="grid gap-3 disabled:opacity-60">
        <legend className="sr-only">Instructions for the model</legend>
        <TextArea
          label="System prompt"
          rows={3}
          value={setup.system}
          onChange={(event) => set('system', event.target.value)}
        />
      </fieldset>
      <div>
        <Heading>Tools</Heading>
        <ToolsField
          builtIn={choices.tools}
          tools={setup.tools}
          mockTools={setup.mockTools}
          mcpTools={setup.mcpTools}
          mcpServers={mcpServers}
          isFixed={isFixed}
          onChange={(chosen) => onChange({ ...setup, ...chosen })}
        />
      </div>
      <fieldset disabled={isFixed} className="grid gap-3 disabled:opacity-60">
        <legend className="sr-only">Whether the model thinks</legend>
        <CheckField
          label="Thinking"
          note="enable_thinking, if the template supports it"
          checked={setup.thinking}
          onChange={(event) => set('thinking', event.target.checked)}
        />
      </fieldset>
      {isFixed && <p className="text-faint text-xs">{fixedNote}</p>}

      <SamplingPart {...number} status={status} onAll={onAllSampling} />
      <div>
        <Heading>Limits</Heading>
        <div className="grid grid-cols-2 gap-2.5">
          <LimitInput name="maxToolIterations" {...number} />
          <LimitInput name="maxTokens" {...number} />
        </div>
      </div>
      <details
        // The user may open the element before React hydrates the page; no event reports that, and the HTML then differs.
        suppressHydrationWarning
        ref={(details) => {
          if (details?.open) setIsMoreAsked(true)
        }}
        onToggle={(event) => event.currentTarget.open && setIsMoreAsked(true)}
      >
        <summary className="font-semibold text-dim text-xs hover:text-ink">More settings</summary>
        {isMoreAsked && (
          <Suspense>
            <MoreSettings {...number} status={status} choices={choices} isFixed={isFixed} />
          </Suspense>
        )}
      </details>
    </form>
  )
}
