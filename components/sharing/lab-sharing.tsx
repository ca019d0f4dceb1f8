'use client'
/** Sharing of lab documents by link or file. A received document is previewed before it is opened. */

import { useEffect, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import { saveText } from '#lib/browser/files/save-file.ts'
import type { SourceContents } from '#lib/templates/document/document.ts'
import {
  loadedFrom,
  readShared,
  type SharedDocument,
  type ShownDocument,
  sharedDocument,
  sharedJson,
} from '#lib/templates/document/shared-document.ts'
import { hashOfJson, textOfHash } from '#lib/util/link-hash.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { ShareDialog, type SharedLink } from './share-dialog.tsx'

interface LabSharingProps {
  /** Hash of the address that contains a document; undefined to share the current one. */
  readonly hash: string | undefined
  /** A file that was dropped or chosen. */
  readonly file: File | undefined
  readonly shown: ShownDocument
  /** Name of the tokenizer in the lab. */
  readonly tokenizer: string
  /** `loaded` lists what the lab must load, in order. */
  readonly onOpen: (shared: SharedDocument, loaded: readonly SourceContents[]) => void
  readonly onClose: () => void
}

/** Longest link in characters. Browsers and programs cut or refuse longer addresses. */
const LONGEST_LINK = 32_000
/** Largest file in bytes, far above the size of any document. */
const LARGEST_FILE = 64 << 20

/** Shows the dialog that shares the current document, or the preview of a received one. */
export function LabSharing({ hash, file, shown, tokenizer, onOpen, onClose }: LabSharingProps) {
  const [link, setLink] = useState<SharedLink>({ kind: 'pending' })
  /** The document that was read last, or why it cannot be opened. */
  const [found, setFound] = useState<SharedDocument | string>()
  const document = sharedDocument(shown)
  const json = sharedJson(document)
  useEffect(() => {
    let isCurrent = true
    void hashOfJson(json, 'lab').then((hash) => {
      if (!isCurrent) return
      const href = `${window.location.origin}/templates${hash}`
      setLink(hash === undefined || href.length > LONGEST_LINK ? { kind: 'too-large' } : { kind: 'ready', href })
    })
    return () => {
      isCurrent = false
    }
  }, [json])
  useEffect(() => {
    if (file) void openedFile(file).then(setFound)
    else if (hash !== undefined) void openedText(hash).then(setFound)
  }, [file, hash])
  if (typeof found === 'object')
    return (
      <Offer shared={found} tokenizer={tokenizer} onOpen={() => onOpen(found, loadedFrom(found))} onClose={onClose} />
    )
  if (hash !== undefined || file)
    return found === undefined ? null : (
      <Dialog title="Open a shared document" onClose={onClose}>
        <Banner tone="bad" title={found} hint="The document here is unchanged.">
          <Button onClick={onClose} data-first-focus>
            Close
          </Button>
        </Banner>
      </Dialog>
    )
  return (
    <ShareDialog
      what="document"
      about="The shown template, the messages, tools and options, the name of the tokenizer, and what the right side shows. Another Rollscope can open it without this library."
      link={link}
      copies={[{ name: 'JSON', text: () => json }]}
      onSave={() => saveText(json, fileName(document.revision.name))}
      onOpen={(text) => openedText(text).then(setFound)}
      problem={found}
      onClose={onClose}
    />
  )
}

const fileName = (name: string): string =>
  `${
    name
      .replaceAll(/[^\p{L}\p{N}.-]+/gu, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 60) || 'template'
  }.rollscope-lab.json`

/** Returns the document of a link or a JSON text, or why there is none. */
async function openedText(source: string): Promise<SharedDocument | string> {
  const found = await textOfHash(source, 'lab')
  if (found.kind === 'broken') return `This link cannot be opened: ${found.why}. Request a new link, or the file.`
  const read = readShared(found.kind === 'text' ? found.text : source)
  return read.ok ? read.shared : `This is not a lab document: ${read.why}.`
}

const openedFile = async (file: File): Promise<SharedDocument | string> =>
  file.size > LARGEST_FILE
    ? `${file.name} is larger than the ${LARGEST_FILE >> 20} MiB that can be read.`
    : openedText(await file.text())

interface OfferProps {
  readonly shared: SharedDocument
  readonly tokenizer: string
  readonly onOpen: () => void
  readonly onClose: () => void
}

/** Previews a document. Before the user opens it, nothing is rendered and no tokenizer is loaded. */
function Offer({ shared, tokenizer, onOpen, onClose }: OfferProps) {
  const { revision, against, messages, tools, options, view } = shared
  return (
    <Dialog title="Open a shared document" onClose={onClose} closesBeside={false}>
      <div className="grid gap-4" data-offered={revision.name}>
        <Facts>
          <Fact name="Template">
            {visibleText(revision.name)}, {lines(revision.template)}
          </Fact>
          {against && (
            <Fact name="Compared with">
              {visibleText(against.name)}, {lines(against.template)}
            </Fact>
          )}
          <Fact name="Conversation">
            {[
              `${lines(messages)} of messages`,
              tools === '' ? '' : `${lines(tools)} of tools`,
              options === '' ? '' : `${lines(options)} of options`,
            ]
              .filter((part) => part !== '')
              .join(', ')}
          </Fact>
          <Fact name="Tokenizer">{shared.tokenizer}</Fact>
          {view.cell !== undefined && <Fact name="Prefix doctor">cell {view.cell}</Fact>}
        </Facts>
        {(shared.tokenizer !== tokenizer || (view.tokenizer2 ?? tokenizer) !== tokenizer) && (
          <p className="text-dim">Opening it loads its tokenizer, from the Hub if it is not on this machine.</p>
        )}
        <p className="text-dim">
          The template becomes a revision, and the conversation here is replaced. The current document is kept under
          Load…, Earlier.
        </p>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" onClick={onOpen} data-first-focus>
            Open
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

function lines(text: string): string {
  const count = text.split('\n').length
  return countWithNoun(count, 'line')
}
