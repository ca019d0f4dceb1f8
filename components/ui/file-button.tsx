import { type ReactNode, useRef } from 'react'
import { Button } from './button.tsx'

interface FileButtonProps {
  readonly look?: 'primary' | 'plain'
  /** Accepted kinds of files, as in the `accept` attribute of an input; '' accepts all. */
  readonly accept: string
  /** Accessible name of the file input. */
  readonly label: string
  readonly onFile: (file: File) => void
  readonly children: ReactNode
}

/** A button that lets the user choose one file. */
export const FileButton = ({ onFile, ...rest }: FileButtonProps) => (
  <ChoosingButton {...rest} multiple={false} onFiles={([file]) => file && onFile(file)} />
)

interface FilesButtonProps extends Omit<FileButtonProps, 'accept' | 'onFile'> {
  /** Called with at least one file. */
  readonly onFiles: (files: readonly File[]) => void
}

/** A button that lets the user choose several files of any kind. */
export const FilesButton = (props: FilesButtonProps) => <ChoosingButton {...props} accept="" multiple />

/** A button that lets the user choose a folder, whose files have its name in their path. */
export const FolderButton = (props: FilesButtonProps) => <ChoosingButton {...props} accept="" multiple isFolder />

function ChoosingButton({
  look = 'plain',
  accept,
  label,
  multiple,
  isFolder = false,
  onFiles,
  children,
}: FilesButtonProps & Pick<FileButtonProps, 'accept'> & { readonly multiple: boolean; readonly isFolder?: boolean }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={accept}
        multiple={multiple}
        {...(isFolder && { webkitdirectory: '' })}
        aria-label={label}
        className="sr-only"
        tabIndex={-1}
        onChange={({ target }) => {
          const files = [...(target.files ?? [])]
          // The value is reset so that the same file can be chosen again, for example after a correction.
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
