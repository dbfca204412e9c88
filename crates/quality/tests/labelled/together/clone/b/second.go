package b

func Average(numbers []float64) float64 { // flag: CoA clone
	total := 0.0
	for _, number := range numbers {
		total += number
	}
	if len(numbers) == 0 {
		return 0
	}
	return total / float64(len(numbers))
}
