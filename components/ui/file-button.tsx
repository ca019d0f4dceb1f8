import { type ReactNode, useRef } from 'react'
import { Button } from './button.tsx'

interface FileButtonProps {
  readonly look?: 'primary' | 'plain'
  /** Kinds of files, as an input has them. */
  readonly accept: string
  /** What the file is, for those who cannot see the button. */
  readonly label: string
  readonly onFile: (file: File) => void
  readonly children: ReactNode
}

export function FileButton({ look = 'plain', accept, label, onFile, children }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={accept}
        aria-label={label}
        className="sr-only"
        tabIndex={-1}
        onChange={({ target }) => {
          const file = target.files?.[0]
          // The same file, corrected, may be chosen again.
          target.value = ''
          if (file) onFile(file)
        }}
      />
      <Button look={look} onClick={() => input.current?.click()}>
        {children}
      </Button>
    </>
  )
}
