'use client'
import { useEffect, useEffectEvent, useState } from 'react'
import { useSharing } from '#components/sharing/use-sharing.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { useServerStatus } from '#components/shell/use-server-status.ts'
import { LabPanes } from '#components/templates/editor/lab-panes.tsx'
import type { LabStore } from '#lib/browser/templates/lab-document.ts'
import { useSetup } from '#lib/browser/use-setup.ts'
import { useLab } from '#lib/browser/workers/lab.ts'
import {
  comparedRevision,
  inputOf,
  type LabAction,
  type LabDocument,
  type LabHistory,
  type SourceContents,
} from '#lib/templates/document/document.ts'
import type { SharedDocument } from '#lib/templates/document/shared-document.ts'
import { isFollowed, type LabAddress } from './address.ts'
import { LabDialogs } from './lab-dialogs.tsx'
import { LabEditor } from './lab-editor.tsx'
import { LabResult } from './lab-result.tsx'
import type { LabDialog } from './lab-toolbar.tsx'
import { labTabNamed } from './tabs.tsx'
import { useEditorPlace } from './use-editor-place.ts'
import { useLabCheck } from './use-lab-check.ts'

const LabSharing = lazyPart(async () => (await import('#components/sharing/lab-sharing.tsx')).LabSharing)

interface OpenLabProps {
  readonly lab: LabStore
  readonly history: LabHistory
  readonly address: LabAddress
  readonly isSaved: boolean
  readonly onFile: (file: File) => void
  /** A file with a shared document that was dropped or chosen. */
  readonly sharedFile: File | undefined
  /** Called when the shared document was opened or dismissed. */
  readonly onSharedFile: () => void
}

/** The lab with its document: the editor, the result and the dialogs. */
export function OpenLab({ lab, history, address, isSaved, onFile, sharedFile, onSharedFile }: OpenLabProps) {
  const { now } = history
  const input = inputOf(now)
  const { run } = useLab()
  const [setup] = useSetup()
  const { name: server } = useServerStatus(setup.server)
  const [dialog, setDialog] = useState<LabDialog>()
  const place = useEditorPlace(address)
  const check = useLabCheck(run, input, now.tokenizer)
  const [sharing, share, endSharing] = useSharing('lab')
  useFollowedDocument(address, now)

  const act = (action: LabAction) => lab.apply(action)
  const load = (loaded: SourceContents) => {
    act({ type: 'loaded', loaded })
    place.showPart(loaded.template === undefined ? 'messages' : 'template')
  }
  const openEarlier = async (document: LabDocument) => {
    await lab.keepEarlier()
    act({ type: 'opened', document })
  }
  const leaveShared = () => {
    endSharing()
    onSharedFile()
  }
  const openShared = async (shared: SharedDocument, all: readonly SourceContents[]) => {
    await lab.keepEarlier()
    const numbers = all.map((loaded) => act({ type: 'loaded', loaded })?.now.shown)
    place.leaveLines()
    leaveShared()
    void address.showShared(shared.view, shared.against && numbers[0])
    if (shared.view.tab !== undefined) place.setPane('result')
  }
  const tab = labTabNamed(address.tab)
  return (
    <>
      <LabPanes
        shown={place.pane}
        onShow={place.setPane}
        editor={
          <LabEditor
            {...{ history, address, place, check, isSaved }}
            onAction={act}
            onDialog={setDialog}
            onShare={share}
          />
        }
        result={
          <LabResult
            {...{ address, place, run, server }}
            document={now}
            fit={check.fit}
            onAction={act}
            onTokenizer={(name) => setDialog({ tokenizer: name })}
          />
        }
      />
      <LabDialogs
        {...{ dialog, server, onFile }}
        document={now}
        onAction={act}
        onLoaded={load}
        onEarlier={openEarlier}
        onClose={() => setDialog(undefined)}
      />
      {(sharing || sharedFile) && (
        <LabSharing
          key={sharedFile ? `${sharedFile.name} ${sharedFile.lastModified}` : sharing?.hash}
          hash={sharing?.hash}
          file={sharedFile}
          shown={{
            document: now,
            view: { ...address.view, tab: tab?.name, part: address.part, as: address.as },
            against:
              tab?.name === 'compare'
                ? comparedRevision(now.revisions, { shown: input.template, named: address.view.against })
                : undefined,
          }}
          tokenizer={now.tokenizer}
          onOpen={openShared}
          onClose={leaveShared}
        />
      )}
    </>
  )
}

/**
 * Makes the address name the document. The address is read once, when the page opens; afterwards it only follows, since
 * the document also changes by undo and in other windows.
 */
function useFollowedDocument(address: LabAddress, document: LabDocument): void {
  const follow = useEffectEvent((displayed: LabDocument) => address.follow(displayed))
  const isBehind = !isFollowed(address.linked, document)
  useEffect(() => {
    if (isBehind) void follow(document)
  }, [isBehind, document])
}
