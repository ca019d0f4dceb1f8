import { OpenedScreen } from '#components/inspector/screen.tsx'

/** The page /open: a trajectory from a file that was opened in the browser and is not stored. */
export default function OpenedTrajectoryPage() {
  return <OpenedScreen />
}
