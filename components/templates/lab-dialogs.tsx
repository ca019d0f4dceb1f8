'use client'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import type { LabAction, LabDocument, SourceContents } from '#lib/templates/document/document.ts'
import type { LabDialog } from './lab-toolbar.tsx'

const RevisionsDialog = lazyPart(
  async () => (await import('#components/templates/compare/revisions-dialog.tsx')).RevisionsDialog,
)
const LabLoadDialog = lazyPart(async () => (await import('./load-dialog.tsx')).LabLoadDialog)
const LabTokenizerDialog = lazyPart(async () => (await import('./lab-tokenizer-dialog.tsx')).LabTokenizerDialog)

interface LabDialogsProps {
  /** The open dialog; undefined if there is none. */
  readonly dialog: LabDialog | undefined
  readonly document: LabDocument
  /** Name of the chosen server. */
  readonly server: string
  readonly onAction: (action: LabAction) => void
  readonly onLoaded: (loaded: SourceContents) => void
  readonly onFile: (file: File) => void
  /** Opens an earlier document. */
  readonly onEarlier: (document: LabDocument) => void
  readonly onClose: () => void
}

/** Shows the dialog that a button of the lab has opened. */
export function LabDialogs(props: LabDialogsProps) {
  const { dialog, document, server, onAction, onLoaded, onFile, onEarlier, onClose } = props
  if (dialog === undefined) return null
  if (dialog === 'revisions') return <RevisionsDialog document={document} onAction={onAction} onClose={onClose} />
  if (dialog === 'load')
    return (
      <LabLoadDialog
        hasTools={document.tools.trim() !== ''}
        server={server}
        onLoaded={(loaded) => {
          onClose()
          onLoaded(loaded)
        }}
        onFile={(file) => {
          onClose()
          onFile(file)
        }}
        onEarlier={(earlier) => {
          onClose()
          onEarlier(earlier)
        }}
        onClose={onClose}
      />
    )
  return (
    <LabTokenizerDialog
      tokenizer={document.tokenizer}
      proposed={dialog.tokenizer}
      server={server}
      onChoose={(name) => {
        onClose()
        onAction({ type: 'tokenizer', name })
      }}
      onClose={onClose}
    />
  )
}
