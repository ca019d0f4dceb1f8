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

export const FileButton = ({ onFile, ...rest }: FileButtonProps) => (
  <ChoosingButton {...rest} multiple={false} onFiles={([file]) => file && onFile(file)} />
)

interface FilesButtonProps extends Omit<FileButtonProps, 'onFile'> {
  /** At least one. */
  readonly onFiles: (files: readonly File[]) => void
}

export const FilesButton = (props: FilesButtonProps) => <ChoosingButton {...props} multiple />

function ChoosingButton({
  look = 'plain',
  accept,
  label,
  multiple,
  onFiles,
  children,
}: FilesButtonProps & { readonly multiple: boolean }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={accept}
        multiple={multiple}
        aria-label={label}
        className="sr-only"
        tabIndex={-1}
        onChange={({ target }) => {
          const files = [...(target.files ?? [])]
          // The same file, corrected, may be chosen again.
          target.value = ''
          if (files.length > 0) onFiles(files)
        }}
      />
      <Button look={look} onClick={() => input.current?.click()}>
        {children}
      </Button>
    </>
  )
}
