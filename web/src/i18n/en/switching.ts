// What a mode means, and leaving it. Only in a chat.
export const switching = {
  planHint: 'Plan mode: reads and plans. Writes nothing but the plan.',
  buildHint: 'Build mode: executes the approved plan, and asks before anything outside it. Without one it does what you say; deletions ask.',
  planRequired: 'This workspace requires an approved plan before anything changes.',
  planRevised: 'The plan changed after you approved it. Nothing changes before you approve it again.',
  planTakenBack: 'Changes were taken back to before the approval. Nothing changes before you approve the plan again.',
  leaveTitle: 'Stop the work in progress?',
  leaveStep: 'Step {number} of {total} is running: {action}.',
  leaveQuestion: 'A question waits for your answer.',
  leaveRun: 'The agent is working.',
  leaveHint: 'Switching stops it now. Changes already written stay on disk.',
  keepWorking: 'Keep working',
  stopAndSwitch: 'Stop and switch',
  nowIn: 'Now in {mode} mode, role {role}',
} as const;
