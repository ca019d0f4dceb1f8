'use client'
/** Panel with the setup of the next run, and the dialogs that it opens: sampling parameters, MCP servers, sharing. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSharing } from '#components/sharing/use-sharing.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { Link } from '#components/shell/navigation.tsx'
import type { useServerStatus } from '#components/shell/use-server-status.ts'
import { Button } from '#components/ui/button.tsx'
import { capabilitiesOptions } from '#lib/browser/capabilities.ts'
import type { SamplingField } from '#lib/sampling/fields.ts'
import type { PromptDraft } from '#lib/share/settings/prompt-draft.ts'
import { openingOf, type Setup, setupOf } from '#lib/share/settings/setup.ts'
import type { FieldErrors } from '#lib/share/settings/setup-request.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { liveNote } from '../run/live-note.ts'
import { SetupForm } from './setup-form.tsx'
import { BUILT_IN_TOOLS } from './tools-field.tsx'

const SavedPresetsDialog = lazyPart(
  async () => (await import('../sampling/saved-presets-dialog.tsx')).SavedPresetsDialog,
)
const SetupSharing = lazyPart(async () => (await import('#components/sharing/setup-sharing.tsx')).SetupSharing)

/** What the form shows until the choices of the server arrive: its tools, as brief as the form shows them, so that nothing below them moves. */
const FIRST_CHOICES = { tools: BUILT_IN_TOOLS, parsers: [], defaultParser: '' }

interface PlaygroundSetupProps {
  readonly setup: Setup
  readonly onChange: (setup: Setup) => void
  readonly errors: FieldErrors
  /** Describes how replies can be watched live; undefined until it is loaded. */
  readonly liveNote: typeof liveNote | undefined
  readonly server: ReturnType<typeof useServerStatus>
  /** The trajectory that continues, whose tokens fix part of the setup; undefined if a new one begins. */
  readonly trajectory: TrajectoryView | undefined
  /** Whether there is such a trajectory, which may still be loading. */
  readonly isFixed: boolean
  readonly draft: PromptDraft
  readonly onDraft: (change: Partial<PromptDraft>) => void
}

/** Shows the form of the setup and its dialogs. */
export function PlaygroundSetup(props: PlaygroundSetupProps) {
  const { setup, onChange, errors, trajectory, isFixed, draft, onDraft } = props
  const { servers, name: server, status } = props.server
  /** Set while the dialog of all sampling parameters is open; `field` is the parameter shown first. */
  const [allSampling, setAllSampling] = useState<{ readonly field: SamplingField | undefined }>()
  const [sharing, share, endSharing] = useSharing('setup')
  const { data: choices = FIRST_CHOICES } = useQuery(capabilitiesOptions())
  // These values do not change with each token, so the form is not rendered again while tokens arrive.
  const { segments, model, provenance } = trajectory ?? {}
  const runSetup = segments && model && provenance ? setupOf({ segments, model, provenance }, setup) : setup
  return (
    <>
      {allSampling && (
        <SavedPresetsDialog
          sampling={setup.sampling}
          samples={setup.samples}
          onChange={(changed) => onChange({ ...setup, ...changed })}
          errors={errors}
          server={server}
          tokenizer={setup.tokenizer}
          field={allSampling.field}
          onClose={() => setAllSampling(undefined)}
        />
      )}
      <SetupForm
        setup={runSetup}
        onChange={(changed) => onChange(isFixed ? { ...changed, ...openingOf(setup) } : changed)}
        errors={errors}
        servers={servers}
        server={server}
        status={status}
        manageServers={
          <Link
            href={server === '' ? '/servers' : `/servers?server=${encodeURIComponent(server)}`}
            className="inline-block font-medium text-accent hover:underline"
          >
            Manage servers
          </Link>
        }
        mcpServers={
          <McpButton
            tools={setup.tools}
            mockTools={setup.mockTools}
            mcpTools={setup.mcpTools}
            onChange={(chosen) => onChange({ ...setup, ...chosen })}
          />
        }
        choices={choices}
        note={props.liveNote?.(status, runSetup)}
        onAllSampling={(field) => setAllSampling({ field })}
        fixedNote={
          isFixed ? 'These settings are already part of the tokens. Start a new run to change them.' : undefined
        }
      />
      <Button className="mt-3 text-xs" onClick={share}>
        Share setup…
      </Button>
      {sharing && (
        <SetupSharing
          key={sharing.hash}
          hash={sharing.hash}
          setup={setup}
          draft={draft}
          servers={servers}
          server={server}
          onTaken={(taken, prompt) => {
            onChange(taken)
            if (prompt) onDraft(prompt)
          }}
          onClose={endSharing}
        />
      )}
    </>
  )
}

const McpDialog = lazyPart(async () => (await import('./mcp-dialog.tsx')).McpDialog)

interface McpButtonProps extends Pick<Setup, 'tools' | 'mockTools' | 'mcpTools'> {
  readonly onChange: (chosen: Pick<Setup, 'tools' | 'mcpTools'>) => void
}

/** Button that opens the tools of MCP servers. */
function McpButton(props: McpButtonProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button className="px-2! text-xs" onClick={() => setIsOpen(true)}>
        MCP…
      </Button>
      {isOpen && <McpDialog {...props} onClose={() => setIsOpen(false)} />}
    </>
  )
}
