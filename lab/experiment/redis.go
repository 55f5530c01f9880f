package experiment

func onRedis() []Experiment {
	return []Experiment{setnxCrash(), setnxExpireGap(), unlockAnothers(), getSetClocks(), ttlTooShort(), ttlTooLong(),
		fencing(), sentinelFailover()}
}
