import { LibraryScreen } from '#components/library/screen.tsx'

/** The page /library: the stored trajectories. */
export default function LibraryPage() {
  return <LibraryScreen />
}
