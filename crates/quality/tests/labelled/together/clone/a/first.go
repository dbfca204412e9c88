package a

func Mean(values []float64) float64 { // flag: CoA clone
	sum := 0.0
	for _, value := range values {
		sum += value
	}
	if len(values) == 0 {
		return 0
	}
	return sum / float64(len(values))
}
