'use client'
/** Opens the file at an address. The address and the reason of a refusal stay in the dialog, so that it can be corrected. */
import { useEffect, useRef, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { TextField } from '#components/ui/field.tsx'
import { ApiError } from '#lib/browser/api.ts'
import { loadWhenAnswered } from '#lib/browser/application.ts'
import { useOpenedFile } from '#lib/browser/files/use-opened-file.ts'
import { useNavigation } from '../navigation.tsx'

interface OpenUrlProps {
  /** Ends the opening before, and returns the controller of this one. */
  readonly onOpening: () => AbortController
  /** Called when the file is stored, before its page is shown. */
  readonly onOpened: () => void
}

/** Shows the field of the address, and why the last one was refused. */
export function OpenUrl({ onOpening, onOpened }: OpenUrlProps) {
  const { go } = useNavigation()
  const openedFile = useOpenedFile()
  const [isOpening, setIsOpening] = useState(false)
  const [refusal, setRefusal] = useState<ApiError>()
  const last = useRef<AbortController>(undefined)
  useEffect(() => () => last.current?.abort(), [])
  const open = async (url: string) => {
    const opening = onOpening()
    last.current = opening
    setRefusal(undefined)
    setIsOpening(true)
    try {
      const { openUrl } = await loadWhenAnswered(() => import('./open-file.ts'))
      const href = await openUrl(openedFile, url, opening.signal)
      onOpened()
      await go(href)
    } catch (reason) {
      if (opening.signal.aborted) return
      if (!(reason instanceof ApiError)) throw reason
      setRefusal(reason)
    } finally {
      setIsOpening(false)
    }
  }
  return (
    <>
      <form
        className="mt-3 flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          const url = new FormData(event.currentTarget).get('url')
          if (!isOpening && typeof url === 'string' && url.trim() !== '') void open(url.trim())
        }}
      >
        <div className="min-w-0 flex-1">
          <TextField
            label="Open a URL"
            name="url"
            placeholder="https://example.org/rollouts.jsonl"
            inputMode="url"
            aria-invalid={refusal ? true : undefined}
          />
        </div>
        <Button type="submit" disabled={isOpening}>
          {isOpening ? 'Opening…' : 'Open URL'}
        </Button>
      </form>
      {refusal && (
        <div className="mt-2">
          <Banner tone="bad" title={refusal.message} hint={refusal.hint} />
        </div>
      )}
    </>
  )
}
