'use client'
import { type FormEvent, useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { type CopyChoice, CopyChoices } from '#components/ui/copy-button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { TextArea, TextField } from '#components/ui/field.tsx'
import { FileButton } from '#components/ui/file-button.tsx'
import { LONGEST_SETUP } from '#lib/sampling/dialects/text-limits.ts'
import { useBoundedText } from './use-bounded-text.ts'

/** State of the link to the shared content. */
export type SharedLink =
  | { readonly kind: 'pending' }
  | { readonly kind: 'ready'; readonly href: string }
  /** The content is too large for a link. */
  | { readonly kind: 'too-large' }

interface ShareDialogProps {
  /** Name of the shared content in the texts of the dialog. */
  readonly what: 'setup' | 'document'
  /** Description of what is included and what is not. */
  readonly about: string
  readonly link: SharedLink
  readonly copies: readonly CopyChoice[]
  readonly onSave: () => void
  /** Called with a link or JSON. */
  readonly onOpen: (text: string) => void
  /** Error of the last attempt to open something. */
  readonly problem: string | undefined
  readonly onClose: () => void
}

/** Length in characters from which chat programs cut links. */
const LONG_LINK = 8000

/** Shows a link, copies and a file of the current content, and a form that opens received content. */
export function ShareDialog({ what, about, link, copies, onSave, onOpen, problem, onClose }: ShareDialogProps) {
  const [pasted, setPasted] = useState('')
  const box = useBoundedText(LONGEST_SETUP, setPasted)
  const chosen = useBoundedText(LONGEST_SETUP, onOpen)
  const open = (event: FormEvent) => {
    event.preventDefault()
    onOpen(pasted)
  }
  return (
    <Dialog title={`Share ${what}`} onClose={onClose} closesBeside={false}>
      <div className="grid gap-5">
        <section className="grid gap-2">
          <p className="text-dim">{about}</p>
          {link.kind === 'too-large' ? (
            <p data-link="too-large">This {what} is larger than a link can hold: send the file.</p>
          ) : (
            <LinkField href={link.kind === 'ready' ? link.href : undefined} />
          )}
          <CopyChoices
            choices={[...(link.kind === 'ready' ? [{ name: 'link', text: () => link.href }] : []), ...copies]}
          />
          <div>
            <Button onClick={onSave}>Save as file</Button>
          </div>
        </section>
        <form className="grid gap-2" onSubmit={open}>
          <Heading>Open a {what}</Heading>
          <TextArea
            label="Link or JSON"
            rows={2}
            spellCheck={false}
            className="font-mono text-xs"
            error={box.refusal ?? chosen.refusal ?? problem}
            value={pasted}
            onChange={(event) => box.take(event.target.value)}
          />
          <div className="flex flex-wrap gap-2">
            <Button type="submit" disabled={pasted.trim() === ''}>
              Preview
            </Button>
            <FileButton
              accept=".json,application/json"
              label={what === 'setup' ? 'Setup file' : 'Document file'}
              onFile={chosen.takeFile}
            >
              Open a file…
            </FileButton>
          </div>
        </form>
      </div>
    </Dialog>
  )
}

/** Shows the link; `href` is undefined while it is created. */
function LinkField({ href }: { readonly href: string | undefined }) {
  return (
    <>
      <TextField
        label="Link"
        readOnly
        value={href ?? ''}
        onFocus={(event) => event.target.select()}
        data-first-focus
        data-link={href !== undefined}
      />
      <p className="text-faint text-xs">
        The part after # stays in the browser: no server sees it. For another Rollscope, append it to the address of
        that one.
        {href !== undefined &&
          href.length > LONG_LINK &&
          ` This link has ${countText(href.length)} characters, which some programs cut: send the file.`}
      </p>
    </>
  )
}
