# PowerShell completion for foley.
#
# `foley __complete` prints a line for each candidate: the word, a tab, a description. Where it prints `files` or
# `folders`, PowerShell offers those by itself. It asks no service, and nothing that it prints is evaluated.

Register-ArgumentCompleter -Native -CommandName foley -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { $_.ToString() })
    # An empty word would get lost on its way to a program.
    $words += if ($wordToComplete -eq '') { ' ' } else { $wordToComplete }

    foley __complete @words 2>$null | Where-Object { $_.Contains("`t") } | ForEach-Object {
        $name, $about = $_ -split "`t", 2
        $text = $name
        if ($text -notmatch '^[\w.,:@=/+-]+$') { $text = "'" + $text.Replace("'", "''") + "'" }
        if (-not $about) { $about = $name }
        [System.Management.Automation.CompletionResult]::new($text, $name, 'ParameterValue', $about)
    }
}
