<?php
// SPDX-License-Identifier: BSD-2-Clause
// answer.php FOLDER ROUNDS: writes so many files and includes them, then one again and one that is not there, and calls a function of each.
[, $folder, $rounds] = $argv;
for ($i = 0; $i < $rounds; $i++) {
	file_put_contents("$folder/part$i.php", "<?php function part$i() { return $i; }\n");
}
$sum = 0;
for ($i = 0; $i < $rounds; $i++) {
	include "$folder/part$i.php";
	$sum += "part$i"();
}
include_once "$folder/part0.php";
@include "$folder/nowhere.php";
echo "sum=$sum\n";
