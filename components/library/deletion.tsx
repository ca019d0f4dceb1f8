'use client'
/** What a page of a stored trajectory shows after the trajectory was deleted, here or in another window. */
import { useQuery } from '@tanstack/react-query'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { ApiError } from '#lib/browser/api.ts'
import { useOtherWindows } from '#lib/browser/library/other-windows.ts'
import { isMissing, revisionOptions } from '#lib/browser/library/revision.ts'
import { useLibrary } from '#lib/browser/library/use-library.ts'

interface DeletedNoticeProps {
  readonly storedKey: string | undefined
  /** Whether the page shows the trajectory and does not read it again by itself. */
  readonly isShown: boolean
}

/** Reports that the trajectory which the page shows was deleted meanwhile. */
export function DeletedNotice({ storedKey, isShown }: DeletedNoticeProps) {
  const { error } = useQuery(revisionOptions(storedKey, isShown))
  useOtherWindows()
  return (
    isShown &&
    isMissing(error) && (
      <Banner tone="bad" title={error.message} hint={error.hint}>
        <RestoreButton storedKey={storedKey} error={error} />
      </Banner>
    )
  )
}

interface RestoreButtonProps {
  readonly storedKey: string | undefined
  readonly error: Error | null
}

/** Restores a trajectory if the error is that it was deleted. */
export function RestoreButton({ storedKey, error }: RestoreButtonProps) {
  const library = useLibrary()
  return (
    storedKey !== undefined &&
    error instanceof ApiError &&
    error.code === 'DELETED' && <Button onClick={() => library.restore([storedKey])}>Restore</Button>
  )
}
