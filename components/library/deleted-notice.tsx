'use client'
/** What a page of a stored trajectory shows after its deletion. */
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { ApiError } from '#lib/browser/api.ts'
import { useLibrary } from '#lib/browser/library/use-library.ts'

interface RestoreButtonProps {
  readonly storedKey: string | undefined
  readonly error: Error | null
}

/** Reports that the trajectory which the page shows was deleted meanwhile. */
export const DeletedNotice = ({ storedKey, error }: RestoreButtonProps & { readonly error: ApiError }) => (
  <Banner tone="bad" title={error.message} hint={error.hint}>
    <RestoreButton storedKey={storedKey} error={error} />
  </Banner>
)

/** Restores a trajectory if the error is that it was deleted. */
export function RestoreButton({ storedKey, error }: RestoreButtonProps) {
  const library = useLibrary()
  return (
    storedKey !== undefined &&
    error instanceof ApiError &&
    error.code === 'DELETED' && <Button onClick={() => library.restore([storedKey])}>Restore</Button>
  )
}
