import type { KeyboardEvent } from 'react'
import { DocumentEditor } from '#components/templates/editor/document-editor.tsx'
import { TaskBanner } from '#components/templates/editor/failure-banner.tsx'
import { ProblemBar } from '#components/templates/editor/problem-bar.tsx'
import { changedPart, inputOf, type LabAction, type LabHistory } from '#lib/templates/document/document.ts'
import type { LabAddress } from './address.ts'
import { DocumentBar, type LabDialog, PartBar } from './lab-toolbar.tsx'
import type { EditorPlace } from './use-editor-place.ts'
import type { LabCheck } from './use-lab-check.ts'

interface LabEditorProps {
  readonly history: LabHistory
  readonly address: LabAddress
  readonly place: EditorPlace
  readonly check: LabCheck
  /** Whether the browser has stored the document. */
  readonly isSaved: boolean
  readonly onAction: (action: LabAction) => LabHistory | undefined
  readonly onDialog: (dialog: LabDialog) => void
  readonly onShare: () => void
}

/** The left pane of the lab: one part of the document, its history and its errors. */
export function LabEditor(props: LabEditorProps) {
  const { history, address, place, check, isSaved, onAction, onDialog, onShare } = props
  const { now } = history
  const { part } = address
  const { error, failure } = check
  const { showPart, showLine } = place
  const travel = (type: 'undone' | 'redone') => {
    const changed = onAction({ type })
    const field = changed && changedPart(now, changed.now)
    if (field !== undefined && field !== 'tokenizer' && field !== part) showPart(field)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: one history for all fields replaces their own undo
    <div
      className="grid h-full grid-rows-[auto_auto_minmax(0,1fr)_auto]"
      data-saved={isSaved}
      onKeyDown={(event) => {
        const type = historyKey(event)
        if (!type) return
        event.preventDefault()
        travel(type)
      }}
    >
      <PartBar address={address} onPart={showPart} />
      <DocumentBar
        history={history}
        onDialog={onDialog}
        onShare={onShare}
        onRevision={(number) => onAction({ type: 'shown', number })}
        onTravel={travel}
      />
      <DocumentEditor
        input={inputOf(now)}
        part={part}
        as={address.as}
        error={error}
        shownLine={place.shownLine}
        onAs={(as) => address.show({ as })}
        onType={(field, text) => onAction({ type: 'typed', field, text, at: performance.now() })}
        onCursor={place.setCursorLine}
      />
      <div>
        {error && (
          <ProblemBar
            error={error}
            onShow={() => (error.line === undefined ? showPart(error.where) : showLine(error.where, error.line))}
          />
        )}
        {failure && <TaskBanner error={failure} />}
      </div>
    </div>
  )
}

/** Returns the step of a key. The case of the letter is ignored, because caps lock with ⇧ gives the small letter. */
function historyKey(event: KeyboardEvent): 'undone' | 'redone' | undefined {
  if (event.defaultPrevented || event.altKey || !(event.ctrlKey || event.metaKey)) return undefined
  const key = event.key.toLowerCase()
  if (key === 'z') return event.shiftKey ? 'redone' : 'undone'
  return key === 'y' && event.ctrlKey ? 'redone' : undefined
}
