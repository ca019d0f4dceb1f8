'use client'
import { useQuery } from '@tanstack/react-query'
import { useServerStatus } from '#components/shell/use-server-status.ts'
import { MarkerBanner } from '#components/templates/editor/marker-banner.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import { BUILT_IN } from '#lib/api/server-name.ts'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import { requestTemplateCheck } from '#lib/browser/templates/template-check.ts'
import { tokenizerNamesOptions } from '#lib/browser/tokenizers.ts'
import { inputOf, type LabAction, type LabDocument } from '#lib/templates/document/document.ts'
import { suggestedTokenizers } from '#lib/templates/document/tokenizer-suggestions.ts'
import type { RunTask } from '#lib/templates/tasks/tasks.ts'
import type { LabAddress } from './address.ts'
import { LAB_TABS, labTabNamed } from './tabs.tsx'
import type { EditorPlace } from './use-editor-place.ts'
import type { LabCheck } from './use-lab-check.ts'

interface LabResultProps {
  readonly document: LabDocument
  readonly address: LabAddress
  readonly place: EditorPlace
  readonly fit: LabCheck['fit']
  readonly run: RunTask
  /** Name of the chosen server. */
  readonly server: string
  readonly onAction: (action: LabAction) => void
  /** Opens the dialog of the tokenizer with a name. */
  readonly onTokenizer: (name: string) => void
}

/** The right pane of the lab: the tab with the result. */
export function LabResult(props: LabResultProps) {
  const { document, address, place, fit, run, server, onAction, onTokenizer } = props
  const { tokenizer, shown } = document
  const input = inputOf(document)
  const { data: trajectory } = useQuery(trajectoryOptions(document.trajectory))
  const { data: local = [] } = useQuery(tokenizerNamesOptions())
  const { name, status } = useServerStatus(server)
  const tab = labTabNamed(address.tab)
  return (
    <div className="grid h-full grid-rows-[auto_auto_minmax(0,1fr)]">
      <div className="overflow-x-auto border-line border-b px-3 py-1.5 max-sm:whitespace-nowrap max-sm:text-xs">
        <Segmented
          label="Result"
          value={tab?.name ?? ''}
          onChange={(name) => address.show({ tab: name })}
          options={LAB_TABS.map(({ name, title }) => ({ value: name, text: title }))}
        />
      </div>
      <div>
        <MarkerBanner
          markers={fit.plainMarkers}
          tokenizer={tokenizer}
          suggested={suggestedTokenizers(
            { source: document.source, markers: fit.markers },
            { chosen: tokenizer, known: [BUILT_IN, ...local] },
          )}
          onTokenizer={(name) =>
            name === BUILT_IN || local.includes(name) ? onAction({ type: 'tokenizer', name }) : onTokenizer(name)
          }
        />
      </div>
      <div className="min-h-0 overflow-y-auto">
        {tab && (
          <tab.Tab
            input={input}
            tokenizer={tokenizer}
            server={server}
            serverProblem={status.state === 'failed' ? `${name}: ${status.message}` : undefined}
            trajectory={trajectory}
            run={run}
            cursorLine={place.cursorLine}
            revisions={document.revisions}
            shown={shown}
            view={address.view}
            onView={address.setView}
            onCheck={(renderer, signal) => requestTemplateCheck({ ...input, renderer, server, tokenizer }, signal)}
            onLine={(line, revision = shown) => {
              if (revision !== shown) onAction({ type: 'shown', number: revision })
              place.showLine('template', line)
            }}
            onTemplate={(template, why) => {
              onAction({ type: 'fixed', template, why })
              place.showPart('template')
            }}
            onMessages={(messages) => {
              onAction({ type: 'changed', field: 'messages', text: messages })
              place.showPart('messages')
            }}
          />
        )}
      </div>
    </div>
  )
}
