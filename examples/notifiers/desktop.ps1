# A toast on Windows.
# To configure: "on_complete": [["powershell", "-NoProfile", "-ExecutionPolicy", "Bypass", "-File", "desktop.ps1"]]
$ErrorActionPreference = 'Stop'
[Console]::InputEncoding = New-Object System.Text.UTF8Encoding $false
$payload = [Console]::In.ReadToEnd() | ConvertFrom-Json
$title = "ralph: $($payload.status) after $($payload.iterations) of $($payload.maxIterations) iterations"
$text = "$($payload.epicId) ($($payload.exitReason)) $($payload.task) $($payload.needs)"

[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$toast = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
# CreateTextNode escapes: what the payload says is never markup.
$nodes = $toast.GetElementsByTagName('text')
[void]$nodes.Item(0).AppendChild($toast.CreateTextNode($title))
[void]$nodes.Item(1).AppendChild($toast.CreateTextNode($text))
# Toasts need a program that Windows knows; PowerShell is one.
$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show((New-Object Windows.UI.Notifications.ToastNotification $toast))
