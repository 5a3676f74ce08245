// In the head, so that the page never flashes in the other theme.
try {
  const theme = localStorage.getItem("nccl-report-theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch {
  // No storage for this page: the system's theme stays.
}
