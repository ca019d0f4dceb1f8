'use client'
/** The template lab: a template, a conversation and a tokenizer on the left, their result on the right. */
import { useState } from 'react'
import { Shell } from '#components/shell/shell.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { ApiError } from '#lib/browser/api.ts'
import { loadFile } from '#lib/browser/templates/template-sources.ts'
import { useLabDocument } from '#lib/browser/templates/use-lab-document.ts'
import { isLabFile, isSharedDocument } from '#lib/templates/document/template-files.ts'
import { useLabAddress } from './address.ts'
import { OpenLab } from './open-lab.tsx'
import { useLabOpening } from './use-lab-opening.ts'

/** Bytes of a file that show whether it is a shared document. */
const SNIFFED_BYTES = 200

/** The page of the template lab. */
export function TemplatesScreen() {
  const { state, lab } = useLabDocument()
  const address = useLabAddress()
  const { opening, dismiss } = useLabOpening(lab, state.kind, address.linked)
  const [problem, setProblem] = useState<ApiError>()
  const history = state.kind === 'open' && opening.kind !== 'opening' ? state.history : undefined
  const refused = problem ?? (opening.kind === 'refused' ? opening.error : undefined)
  const [sharedFile, setSharedFile] = useState<File>()
  const open = async (file: File) => {
    setProblem(undefined)
    if (isSharedDocument(await file.slice(0, SNIFFED_BYTES).text())) return setSharedFile(file)
    try {
      lab?.apply({ type: 'loaded', loaded: await loadFile(file, history?.now.tools.trim() !== '') })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setProblem(error)
    }
  }
  return (
    <Shell
      title="Template lab"
      trajectory={undefined}
      onFiles={async ([file]) => {
        if (!isLabFile(file.name) && !isSharedDocument(await file.slice(0, SNIFFED_BYTES).text())) return false
        void open(file)
        return true
      }}
    >
      <div className="grid min-h-0 grid-rows-[auto_minmax(0,1fr)]">
        <div>
          {refused && (
            <Banner tone="bad" title={refused.message} hint={refused.hint}>
              <Button
                onClick={() => {
                  setProblem(undefined)
                  dismiss()
                }}
              >
                Dismiss
              </Button>
            </Banner>
          )}
          {state.kind === 'open' && state.saved === 'failed' && (
            <Banner
              tone="bad"
              title="This browser cannot store the document: reloading the page loses it."
              hint="Its storage is full or switched off, as in some private windows. Copy the template before you leave."
            />
          )}
          {state.kind === 'open' && state.other && (
            <Banner
              tone="note"
              title="Another window has changed this document."
              hint="Changes in this window are no longer stored. Nothing is lost: the document that you do not use stays under Load…, Earlier."
            >
              <Button onClick={() => lab?.choose('other')}>Use the other document</Button>
              <Button onClick={() => lab?.choose('own')}>Keep this document</Button>
            </Banner>
          )}
        </div>
        {history && lab ? (
          <OpenLab
            lab={lab}
            history={history}
            address={address}
            isSaved={state.kind === 'open' && state.saved === 'saved'}
            onFile={open}
            sharedFile={sharedFile}
            onSharedFile={() => setSharedFile(undefined)}
          />
        ) : (
          <p className="p-6 text-faint" role="status">
            {refused ? 'There is no document yet. Reload the page to try again.' : 'Opening the lab…'}
          </p>
        )}
      </div>
    </Shell>
  )
}
